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
  /** Which start of the machine it was; where the system does not tell, which process. */
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

/** Another start of the machine, for a program that simulates it with the clocks. */
export function machineStarted(id: string): void {
  boot = id
}

/** The instant so many ms from now, rounded up: no time that is measured from it ends too early. */
export function timestampIn(ms = 0): Timestamp {
  boot ??= bootId()
  return { since: Math.ceil(Date.now() + ms), uptime: Math.ceil(uptime() * 1000 + ms), boot }
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
