/** How often a call is read: every second at first, while it rings, and less often later, ms. */
export function pollIntervalMs(ageMs: number): number {
  if (ageMs < 10_000) return 1000
  return ageMs < 60_000 ? 2000 : 5000
}

/** The most readings of all calls together in a second. Beyond it each call is read less often. */
const maxPerSecond = 20
const batchMs = 1000

/** Keeps the readings of all calls within the limit. */
export class PollLimiter {
  /** Readings per ms of all calls, if each was read at its own interval. */
  #wanted = 0

  /** A call is read at another interval; infinite: it is not read. */
  change(fromMs: number, toMs: number): void {
    this.#wanted += 1 / toMs - 1 / fromMs
  }

  /**
   * How long a call waits for its next reading, ms: its own interval, or a multiple of it beyond the
   * limit. Then the readings of each second are made together, because a timer costs as much as a
   * reading.
   */
  waitMs(intervalMs: number): number {
    const times = (this.#wanted * 1000) / maxPerSecond
    if (times <= 1) return intervalMs
    const at = Date.now() + intervalMs * times
    return intervalMs * times + (batchMs - (at % batchMs))
  }
}
