import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/**
 * An instant by two clocks. The time of day may be set. The uptime cannot be set and goes on while
 * the machine sleeps, but starts at 0 with each start of the machine. How long ago an instant was is
 * certain only if both clocks agree.
 */
export interface Timestamp {
  /** Time of day, whole ms since 1970. */
  readonly since: number
  /** Time since the machine was started, whole ms. */
  readonly uptime: number
  /** Identifies the boot of the machine; where the system has no boot id, the process. */
  readonly boot: string
}

/** Linux has an id for each start of the machine (random(4)); elsewhere it is one of this process. */
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

/** The instant so many ms from now, rounded up: no time that is measured from it ends too early. */
export function timestampIn(ms = 0): Timestamp {
  const instant = { since: Math.ceil(Date.now() + ms), uptime: Math.ceil(uptime() * 1000 + ms) }
  return { ...instant, boot: readBoot() }
}

/** Largest difference between the two clocks if none was set, ms: some systems give the uptime in whole seconds. */
const differenceMs = 2000

/**
 * How long ago an instant was, ms; negative while it is to come. `undefined` where the two clocks
 * disagree: the time of day was set since, or the machine was started again.
 */
export function elapsedSince(timestamp: Pick<Timestamp, 'since' | 'uptime'>): number | undefined {
  const now = timestampIn()
  const byDay = now.since - timestamp.since
  const byUptime = now.uptime - timestamp.uptime
  return Math.abs(byDay - byUptime) < differenceMs ? Math.min(byDay, byUptime) : undefined
}

/**
 * The same, but for an instant since the machine was started by the uptime alone. Not for the deadline
 * of a sender: there a doubt about either clock has to count.
 */
export const elapsedByUptime = (timestamp: Timestamp): number | undefined =>
  timestamp.boot === timestampIn().boot
    ? timestampIn().uptime - timestamp.uptime
    : elapsedSince(timestamp)

/** The clock of the database by the uptime of this machine, which nobody sets: both ms. */
interface Sample {
  readonly now: number
  readonly uptime: number
}

/**
 * The least difference that counts as a step of the clock, ms: a statement may take this long to be
 * answered. Steps below it go unnoticed, so a span measured by this clock may be this much too long.
 */
export const minStepMs = 10_000

/**
 * What this process knows of the clock of a database that other machines write by, too. A clock that
 * is set while the process runs is noticed with the next reading.
 */
export class WatchedClock {
  #first: Sample | undefined
  /** The first reading since the clock was last set: small steps add up against it. */
  #even: Sample | undefined
  #evenSince = Number.POSITIVE_INFINITY
  #setAt = Number.POSITIVE_INFINITY

  /** What the clock says now. */
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

  /** Whether this process has read the clock since an instant by it, and it was not set since. */
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
