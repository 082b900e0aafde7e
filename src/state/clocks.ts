import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/**
 * An instant by two clocks. The time of day may be set. The uptime cannot be set and includes
 * sleep, but restarts at 0 with each boot. Elapsed time is certain only if both clocks agree.
 */
export interface Timestamp {
  /** Time of day, whole ms since 1970. */
  readonly since: number
  /** Time since boot, whole ms. */
  readonly uptime: number
  /** Identifies the boot of the machine; where the system has no boot id, the process. */
  readonly boot: string
}

/** Linux has an id for each boot (random(4)); elsewhere it is an id of this process. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return randomUUID()
  }
}

let boot: string | undefined
let readBoot = () => {
  boot ??= bootId()
  return boot
}

/** Replaces the boot id, for simulated machines. */
export function simulateBoot(read: () => string): void {
  readBoot = read
}

/** The instant `ms` from now, rounded up: no deadline measured from it ends too early. */
export function timestampIn(ms = 0): Timestamp {
  const instant = { since: Math.ceil(Date.now() + ms), uptime: Math.ceil(uptime() * 1000 + ms) }
  return { ...instant, boot: readBoot() }
}

/**
 * The largest difference between two clocks that were not set, ms: some systems give the uptime in
 * whole seconds.
 */
const differenceMs = 2000

/**
 * Time since an instant, ms; negative for the future. `undefined`: the two clocks disagree, because
 * the time of day was set or the machine was restarted.
 */
export function elapsedSince(timestamp: Pick<Timestamp, 'since' | 'uptime'>): number | undefined {
  const now = timestampIn()
  const byDay = now.since - timestamp.since
  const byUptime = now.uptime - timestamp.uptime
  return Math.abs(byDay - byUptime) < differenceMs ? Math.min(byDay, byUptime) : undefined
}

/**
 * The same, but since the last boot by the uptime alone. Not for the deadline of a sender: doubt
 * about either clock has to count there.
 */
export const elapsedByUptime = (timestamp: Timestamp): number | undefined =>
  timestamp.boot === timestampIn().boot
    ? timestampIn().uptime - timestamp.uptime
    : elapsedSince(timestamp)

/** The clock of the database at an uptime of this machine, which nobody can set; both ms. */
interface Sample {
  readonly now: number
  readonly uptime: number
}

/**
 * The smallest difference that counts as a step of the clock, ms: an answer may take this long.
 * Smaller steps go unnoticed, so a span by this clock may be this much too long.
 */
export const minStepMs = 10_000

/**
 * Watches the clock of a database that other machines also write by. A clock set while the process
 * runs is noticed at the next sample.
 */
export class WatchedClock {
  #first: Sample | undefined
  /** The first sample since the clock was last set: small steps add up against it. */
  #even: Sample | undefined
  #evenSince = Number.POSITIVE_INFINITY
  #setAt = Number.POSITIVE_INFINITY

  /** Records the current time of the database, ms. */
  saw(now: number): void {
    const { uptime } = timestampIn()
    this.#first ??= { now, uptime }
    const expected = at(this.#even ?? this.#first, uptime)
    const isStep = Math.abs(now - expected) >= minStepMs
    if (isStep) this.#setAt = expected
    if (this.#even && !isStep) return
    this.#evenSince = now
    this.#even = { now, uptime }
  }

  /** Whether this process has watched the clock since an instant, and it was not set in between. */
  ranEvenlySince(instant: number): boolean {
    return instant >= this.#evenSince
  }

  /**
   * What the clock would say now if it had not been set since it was first read: what was written up to
   * `until` is measured by it. `undefined`: it was not read yet.
   */
  unset(): { readonly now: number; readonly until: number } | undefined {
    if (!this.#first) return undefined
    const now = at(this.#first, timestampIn().uptime)
    return { now, until: Math.min(now, this.#setAt) }
  }
}

const at = (sample: Sample, uptime: number) => sample.now + uptime - sample.uptime
