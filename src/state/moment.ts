import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/**
 * A moment as it is written down. How long ago it was is told by two clocks: the time of day, which
 * anybody may set, and the time since the machine was started, which nobody sets and which goes on
 * while the machine sleeps, but begins anew with each start.
 */
export interface Moment {
  /** Time of day, whole ms since 1970. */
  readonly since: number
  /** Time since the machine was started, whole ms. */
  readonly uptime: number
  /** Which start of the machine that was; where that is unknown, which process it was. */
  readonly boot: string
}

/** Linux tells one start of the machine from another (random(4)); elsewhere it is this process. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return randomUUID()
  }
}

let boot: string | undefined

/** The moment so many ms from now, rounded up: nothing that is measured from it ends too early. */
export function momentIn(ms = 0): Moment {
  boot ??= bootId()
  return { since: Math.ceil(Date.now() + ms), uptime: Math.ceil(uptime() * 1000 + ms), boot }
}

/** The clocks differ by less than this where nobody has set one: uptime is in whole seconds at times. */
const differenceMs = 2000

/**
 * How long ago a moment was, ms; negative while it is to come. `undefined` where the two clocks
 * disagree: the time of day was set since, or the machine was started again.
 */
export function passedSince(moment: Pick<Moment, 'since' | 'uptime'>): number | undefined {
  const now = momentIn()
  const byDay = now.since - moment.since
  const byUptime = now.uptime - moment.uptime
  return Math.abs(byDay - byUptime) < differenceMs ? Math.min(byDay, byUptime) : undefined
}
