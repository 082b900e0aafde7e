import { randomUUID } from 'node:crypto'
import type { DialPolicyConfig } from '../policy/policy.ts'

/** The limits a ledger keeps. The total per run is no part: each server counts its own. */
export type CallLimits = Pick<
  DialPolicyConfig,
  'max_per_minute' | 'max_per_hour' | 'max_per_day' | 'max_at_once'
>

/** One more call would be more than a limit allows. */
export interface Exceeded {
  readonly rule: keyof CallLimits
  readonly limit: number
  /** Milliseconds until the limit allows a call again; `null` when time alone does not tell. */
  readonly waitMs: number | null
}

export type Reservation = { readonly id: string } | { readonly exceeded: Exceeded }

/** A call on the platform. */
export interface PlacedCall {
  /** Platform and account; only they can be asked about it. */
  readonly owner: string
  readonly callId: string
}

/** A call that may be under way. */
export interface OpenCall {
  readonly id: string
  readonly callId: string
  /** When it was reserved. */
  readonly at: number
}

/**
 * Who called when. What several servers share is one ledger, so everything a limit depends on is
 * decided in it: a reservation looks and counts in one step, and no two of them together pass a
 * limit. All instants are milliseconds since 1970. Methods throw LedgerError when the ledger cannot
 * be used; unknown ids are ignored.
 */
export interface CallLedger {
  /** What would keep a call from being placed now. Counts nothing. */
  look(limits: CallLimits, now: number): Promise<Exceeded | undefined>
  /** Counts a call, under way until `leaseEnd` at the latest, or says which limit it would pass. */
  reserve(limits: CallLimits, now: number, leaseEnd: number): Promise<Reservation>
  /** Which call it became, for whoever is to find out later whether it has ended. */
  placed(id: string, call: PlacedCall): Promise<void>
  /** Calls of an owner, placed after `since`, of which nobody has said that they ended. */
  open(owner: string, since: number): Promise<OpenCall[]>
  /** The call is still under way and will be until `leaseEnd` at the latest. */
  renew(id: string, leaseEnd: number): Promise<void>
  /** The call has ended. It still counts as one that was placed. */
  release(id: string): Promise<void>
  /** The call was never dialled: it counts no more. */
  cancel(id: string): Promise<void>
  close(): Promise<void>
}

/** The ledger cannot be used; the message names it and says what to do. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
}

/** How far back each limit looks, ms. */
const windows = {
  max_per_minute: 60_000,
  max_per_hour: 3_600_000,
  max_per_day: 86_400_000,
} as const

/** The longest window: what is older counts nowhere. */
export const longestWindow = windows.max_per_day

/** What a ledger has to find out so that `exceeded` can decide. */
export interface CallCounts {
  /** When the `nth` newest call after `since` was placed, 1 being the newest. */
  nthNewest(nth: number, since: number): number | undefined
  /** Calls that are under way at `now`. */
  underWay(now: number): number
}

/** The limit that keeps a call from being placed; of several the one with the longest wait. */
export function exceeded(
  limits: CallLimits,
  now: number,
  { nthNewest, underWay }: CallCounts,
): Exceeded | undefined {
  const found: Exceeded[] = []
  for (const [name, window] of Object.entries(windows)) {
    const rule = name as keyof typeof windows
    const limit = limits[rule]
    if (limit === undefined) continue
    if (limit === 0) return { rule, limit, waitMs: null }
    // Calls are placed at the newest first: with the nth gone, fewer than n are left.
    const at = nthNewest(limit, now - window)
    if (at !== undefined) found.push({ rule, limit, waitMs: at + window - now })
  }
  const { max_at_once: most } = limits
  if (most !== undefined && underWay(now) >= most) {
    found.push({ rule: 'max_at_once', limit: most, waitMs: null })
  }
  return found.sort((one, other) => (other.waitMs ?? 0) - (one.waitMs ?? 0))[0]
}

/** A ledger of this process alone, which forgets everything when it ends. */
export function createMemoryLedger(): CallLedger {
  const calls = new Map<string, { readonly at: number; leaseEnd: number; placed?: PlacedCall }>()
  const counts: CallCounts = {
    nthNewest: (nth, since) =>
      [...calls.values()]
        .map(({ at }) => at)
        .filter((at) => at > since)
        .sort((one, other) => other - one)[nth - 1],
    underWay: (now) => [...calls.values()].filter(({ leaseEnd }) => leaseEnd > now).length,
  }
  return {
    look: async (limits, now) => exceeded(limits, now, counts),
    reserve: async (limits, now, leaseEnd) => {
      for (const [id, call] of calls) {
        if (call.at <= now - longestWindow && call.leaseEnd <= now) calls.delete(id)
      }
      const limit = exceeded(limits, now, counts)
      if (limit) return { exceeded: limit }
      const id = randomUUID()
      calls.set(id, { at: now, leaseEnd })
      return { id }
    },
    placed: async (id, placed) => {
      const call = calls.get(id)
      if (call) call.placed = placed
    },
    open: async (owner, since) =>
      [...calls].flatMap(([id, { at, leaseEnd, placed }]) =>
        leaseEnd > 0 && at > since && placed?.owner === owner
          ? [{ id, callId: placed.callId, at }]
          : [],
      ),
    renew: async (id, leaseEnd) => {
      const call = calls.get(id)
      if (call && call.leaseEnd > 0) call.leaseEnd = leaseEnd
    },
    release: async (id) => {
      const call = calls.get(id)
      if (call) call.leaseEnd = 0
    },
    cancel: async (id) => {
      calls.delete(id)
    },
    close: async () => calls.clear(),
  }
}
