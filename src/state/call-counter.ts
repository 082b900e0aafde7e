import * as z from 'zod'
import type { CallKey } from './call-journal.ts'

/*
 * The call counter: placed calls with their times, and calls under way, for the limits of the dial
 * policy. Servers that share a counter share their limits.
 *
 * Lifecycle of a reservation: `reserve` counts the call before it is sent, and records the key of
 * its journal entry, so that the process that finds the call's outcome also settles the
 * reservation. Then follows either `cancel` (there is no call, and it no longer counts), or
 * `placed` (with the call's id), any number of `renew`, and `release` (the call has ended, and
 * still counts as placed). A killed server does not release its calls: they count as under way
 * until their leases end.
 *
 * Rules for every implementation: `reserve` checks all limits and counts the call in one operation
 * that is atomic among all servers, so that concurrent reservations cannot exceed a limit. The
 * count is durable before the promise resolves. All other methods change at most one reservation,
 * and ignore unknown ids. `renew` after `release` does nothing. Time is by the clock that the
 * servers share, so that servers with different clocks keep the same limits.
 */

/** See above. All methods reject with StateError if the counter is unusable. */
export interface CallCounter {
  /** The limit that would refuse a call now; `undefined`: no limit would. Counts nothing. */
  check(limits: CallLimits): Promise<ExceededLimit | undefined>
  /** Counts a call as running for up to `leaseMs`, or returns the limit that refuses it. */
  reserve(limits: CallLimits, leaseMs: number, call?: CallKey): Promise<Reservation>
  /** Ids of a call's reservations without a recorded outcome. */
  pending(call: CallKey): Promise<string[]>
  /**
   * Records the id of the placed call, so that a later process can ask the platform whether it has
   * ended.
   */
  placed(id: string, call: PlatformCall): Promise<void>
  /**
   * An owner's calls that were reserved within the last `withinMs` and have not ended, oldest first.
   */
  open(owner: string, withinMs: number): Promise<OpenCall[]>
  /** Extends the lease of a running call to `leaseMs` from now. */
  renew(id: string, leaseMs: number): Promise<void>
  /** Records that the call has ended. It still counts as placed. */
  ended(id: string): Promise<void>
  /** Records that the call was not placed. It no longer counts. */
  notPlaced(id: string): Promise<void>
}

export type Reservation = { readonly id: string } | { readonly exceeded: ExceededLimit }

export interface PlatformCall {
  /** Platform and account of the call. */
  readonly owner: string
  readonly callId: string
}

/** A call that may still be running. */
export const OpenCall = z.object({ id: z.string(), callId: z.string() })
export type OpenCall = Readonly<z.output<typeof OpenCall>>

/**
 * Limits that a call counter enforces. An absent limit does not apply. The limit per server process
 * is not among them: each server counts its own calls.
 */
export interface CallLimits {
  readonly max_per_minute?: number | undefined
  readonly max_per_hour?: number | undefined
  readonly max_per_day?: number | undefined
  readonly max_at_once?: number | undefined
}

export interface ExceededLimit {
  readonly rule: keyof CallLimits
  readonly limit: number
  /** Time until the limit allows a call, ms; `null`: waiting alone does not help. */
  readonly waitMs: number | null
}

/** Window of each limit, ms. */
const windows = {
  max_per_minute: 60_000,
  max_per_hour: 3_600_000,
  max_per_day: 86_400_000,
} as const

/** Longest window, ms. Calls that ended longer ago count towards no limit. */
export const longestWindow = windows.max_per_day

/** The counted calls, as `exceededLimit` queries them. */
export interface CallCounts {
  /** Reservation time of the `nth` newest call after `since`; `nth` is 1 for the newest. */
  nthNewest(nth: number, since: number): number | undefined
  underWay(now: number): number
}

/** The exceeded limit with the longest wait; `undefined`: no limit is exceeded. */
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
    // With a limit of n calls, the next call is allowed when the nth newest call has left the
    // window.
    const at = nthNewest(limit, now - window)
    if (at !== undefined) exceeded.push({ rule, limit, waitMs: at + window - now })
  }
  const { max_at_once: limit } = limits
  if (limit !== undefined && underWay(now) >= limit) {
    exceeded.push({ rule: 'max_at_once', limit, waitMs: null })
  }
  return exceeded.sort((one, other) => (other.waitMs ?? 0) - (one.waitMs ?? 0))[0]
}
