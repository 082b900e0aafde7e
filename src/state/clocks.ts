import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/**
 * An instant by two clocks. The time of day can be set. The uptime cannot be set and runs on during
 * sleep, but restarts at 0 with each boot. Elapsed time is certain only if both clocks agree.
 */
export interface Timestamp {
  /** Time of day, whole ms since 1970. */
  readonly since: number
  /** Time since boot, whole ms. */
  readonly uptime: number
  /** Id of the machine's boot. On systems without boot ids, an id of the process. */
  readonly boot: string
}

/** The boot id of Linux (random(4)). On other systems, an id of this process. */
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

/** The instant `ms` from now, rounded up so that no deadline ends early. */
export function timestampIn(ms = 0): Timestamp {
  const instant = { since: Math.ceil(Date.now() + ms), uptime: Math.ceil(uptime() * 1000 + ms) }
  return { ...instant, boot: readBoot() }
}

/**
 * Maximum difference of two clocks that were not set, ms. Some systems give the uptime only in
 * whole seconds.
 */
const differenceMs = 2000

/**
 * Time since an instant, ms; negative if the instant is in the future. `undefined` if the clocks
 * disagree, because the time of day was set or the machine restarted.
 */
export function elapsedSince(timestamp: Pick<Timestamp, 'since' | 'uptime'>): number | undefined {
  const now = timestampIn()
  const byDay = now.since - timestamp.since
  const byUptime = now.uptime - timestamp.uptime
  return Math.abs(byDay - byUptime) < differenceMs ? Math.min(byDay, byUptime) : undefined
}

/**
 * Like `elapsedSince`, but trusts the uptime alone if the machine has not restarted. Not for the
 * deadlines of senders, which need both clocks to agree.
 */
export const elapsedByUptime = (timestamp: Timestamp): number | undefined =>
  timestamp.boot === timestampIn().boot
    ? timestampIn().uptime - timestamp.uptime
    : elapsedSince(timestamp)

/**
 * Two clocks read at the same moment, both ms: the database's clock, and this machine's uptime,
 * which cannot be set.
 */
interface Sample {
  readonly now: number
  readonly uptime: number
}

/**
 * Minimum difference that counts as a step of the clock, ms. A smaller one may come from a slow
 * reply. So smaller steps go unnoticed, and a time measured by this clock may be this much too
 * long.
 */
export const minStepMs = 10_000

/**
 * Watches the clock of a database that other machines share. Notices at the next sample that the
 * clock was set.
 */
export class WatchedClock {
  #first: Sample | undefined
  /**
   * First sample since the clock was last set. Later samples are compared with it, so that small
   * steps add up.
   */
  #even: Sample | undefined
  #evenSince = Number.POSITIVE_INFINITY
  #setAt = Number.POSITIVE_INFINITY

  /** Records a sample of the database's time, ms. */
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

  /** True if this process has watched the clock since `instant` and saw no step. */
  ranEvenlySince(instant: number): boolean {
    return instant >= this.#evenSince
  }

  /**
   * The time that the clock would show if nobody had set it since the first sample. Applies to rows
   * written up to `until`. `undefined` before the first sample.
   */
  unset(): { readonly now: number; readonly until: number } | undefined {
    if (!this.#first) return undefined
    const now = at(this.#first, timestampIn().uptime)
    return { now, until: Math.min(now, this.#setAt) }
  }
}

const at = (sample: Sample, uptime: number) => sample.now + uptime - sample.uptime
