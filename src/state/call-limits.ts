/**
 * The limits that a call counter keeps; what is absent is not limited. The limit per run of a server
 * is not among them: each server counts its own calls.
 */
export interface CallLimits {
  readonly max_per_minute?: number | undefined
  readonly max_per_hour?: number | undefined
  readonly max_per_day?: number | undefined
  readonly max_at_once?: number | undefined
}

/** A limit that one more call would exceed. */
export interface ExceededLimit {
  readonly rule: keyof CallLimits
  readonly limit: number
  /** Time until the limit allows a call again, ms; `null` when that depends on more than time. */
  readonly waitMs: number | null
}

/** The time that each limit looks back, ms. */
const windows = {
  max_per_minute: 60_000,
  max_per_hour: 3_600_000,
  max_per_day: 86_400_000,
} as const

/** The longest window, ms: an ended call that is older counts nowhere. */
export const longestWindow = windows.max_per_day

/** What a counter has to find out for `exceededLimit`. */
export interface CallCounts {
  /** When the `nth` newest call after `since` was reserved, 1 being the newest. */
  nthNewest(nth: number, since: number): number | undefined
  /** How many calls are under way at `now`. */
  underWay(now: number): number
}

/** The limit that keeps a call from being placed; of several the one with the longest wait. */
export function exceededLimit(
  limits: CallLimits,
  now: number,
  { nthNewest, underWay }: CallCounts,
): ExceededLimit | undefined {
  const exceeded: ExceededLimit[] = []
  for (const [name, window] of Object.entries(windows)) {
    const rule = name as keyof typeof windows
    const limit = limits[rule]
    if (limit === undefined) continue
    if (limit === 0) return { rule, limit, waitMs: null }
    // With n calls in the window, one more is allowed when the nth newest has left it.
    const at = nthNewest(limit, now - window)
    if (at !== undefined) exceeded.push({ rule, limit, waitMs: at + window - now })
  }
  const { max_at_once: limit } = limits
  if (limit !== undefined && underWay(now) >= limit) {
    exceeded.push({ rule: 'max_at_once', limit, waitMs: null })
  }
  return exceeded.sort((one, other) => (other.waitMs ?? 0) - (one.waitMs ?? 0))[0]
}
