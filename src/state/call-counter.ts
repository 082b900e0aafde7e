import type { CallKey } from './journal.ts'
import { StateError } from './state-access.ts'

/*
 * The call counter: which calls were placed when and which are under way, for the limits of the dial
 * policy. Servers that share a counter share their limits.
 *
 * The life of a reservation: `reserve` counts the call, before it is sent, and notes which entry of the
 * journal it is for: whoever finds out what became of that call settles the reservation, too. Then
 * either `cancel` (there is no call: it counts nowhere) or `placed` (which call it is), any number of
 * `renew`, and `release` (it has ended: it still counts as placed). A server that was killed does not
 * release: the call counts as under way until its lease ends.
 *
 * Rules for every implementation: `reserve` checks all limits and counts in one atomic operation among
 * all servers, so that no two reservations together pass a limit, and what it counted is durable
 * before the promise resolves. All other methods change at most one reservation, and ignore ids that
 * they do not know. `renew` after `release` does nothing. Time is that of what the servers share, so
 * that servers whose clocks differ keep the same limits.
 */

/** See above. Rejects with CallCounterError when it is unusable. */
export interface CallCounter {
  /** The limit that refuses a call now. Counts nothing. */
  check(limits: CallLimits): Promise<ExceededLimit | undefined>
  /** Counts a call as under way for up to `leaseMs`, or returns the limit it would exceed. */
  reserve(limits: CallLimits, leaseMs: number, call?: CallKey): Promise<Reservation>
  /** Reservations of a call that were neither released nor matched with a placed call. */
  pending(call: CallKey): Promise<string[]>
  /** Records the call's id, so that a later process can ask the platform whether it has ended. */
  placed(id: string, call: PlatformCall): Promise<void>
  /** Calls of an owner reserved within the last `withinMs` and not released; oldest first. */
  open(owner: string, withinMs: number): Promise<OpenCall[]>
  /** Extends the lease of a call under way to `leaseMs` from now. */
  renew(id: string, leaseMs: number): Promise<void>
  /** The call has ended. It still counts as placed. */
  release(id: string): Promise<void>
  /** The call was not placed and no longer counts. */
  cancel(id: string): Promise<void>
  close(): Promise<void>
}

export type Reservation = { readonly id: string } | { readonly exceeded: ExceededLimit }

export interface PlatformCall {
  /** Platform and account of the call. */
  readonly owner: string
  readonly callId: string
}

/** A call that may be under way. */
export interface OpenCall {
  readonly id: string
  readonly callId: string
}

/** The message names the counter and says what to do. */
export class CallCounterError extends StateError {
  override readonly name = 'CallCounterError'
}

/**
 * The limits of a call counter; absent: no limit. The limit per server run is not among them: each
 * server counts its own calls.
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
  /** Time until the limit allows a call again, ms; `null`: it does not depend on time alone. */
  readonly waitMs: number | null
}

/** The window of each limit, ms. */
const windows = {
  max_per_minute: 60_000,
  max_per_hour: 3_600_000,
  max_per_day: 86_400_000,
} as const

/** The longest window, ms: an ended call older than this counts nowhere. */
export const longestWindow = windows.max_per_day

/** The counts that `exceededLimit` needs. */
export interface CallCounts {
  /** When the `nth` newest call after `since` was reserved; 1 is the newest. */
  nthNewest(nth: number, since: number): number | undefined
  underWay(now: number): number
}

/** The limit that refuses a call; of several, the one with the longest wait. */
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
