/** How often a call is read: quick at first, when ringing ends; slower the longer it lasts. */
export function pollMs(ageMs: number): number {
  if (ageMs < 10_000) return 1000
  return ageMs < 60_000 ? 2000 : 5000
}

/**
 * Most readings in a second, of all calls together: beyond that each is read less often, in
 * proportion. Neither this process nor the platform is there for readings alone.
 */
const mostPerSecond = 20
const togetherMs = 1000

/** How much is read altogether. */
export class Pace {
  /** Readings per ms that all calls would have, each on its own. */
  #wanted = 0

  /** Takes a call from one interval to another; infinite: not read. */
  change(fromMs: number, toMs: number): void {
    this.#wanted += 1 / toMs - 1 / fromMs
  }

  /**
   * How long to wait where one call alone would be read at this interval, ms. Where there are so
   * many that they wait longer, those of a second are read together: waking up costs as much
   * as a reading does.
   */
  stretched(ms: number): number {
    const times = (this.#wanted * 1000) / mostPerSecond
    if (times <= 1) return ms
    const at = Date.now() + ms * times
    return ms * times + (togetherMs - (at % togetherMs))
  }
}
