import type { Client } from '../api/client.ts'
import type { RouteRequest } from '../contract/route.ts'
import type { CallKey, CallOwner, Journal } from '../state/journal.ts'
import type { PendingPermits } from './pending-permits.ts'
import type { Permit } from './placement.ts'

/** How long one request takes at most, ms: clients commonly give up after 60 s. */
export const requestMs = 54_000

export interface Timing {
  /** How long the platform is asked for the outcome of a call, ms. */
  readonly findOutMs: number
  /**
   * How long after its sender's deadline a call that the platform does not list was certainly not
   * placed, ms: longer than a proxy, a queue or the platform holds a request before acting on it.
   */
  readonly settledMs: number
}

export const defaultTiming: Timing = { findOutMs: 20_000, settledMs: 120_000 }

/** What finding the outcome of calls works with. */
export interface LookupContext {
  readonly client: Client
  readonly journal: Journal
  /** Whose calls these are. */
  readonly callOwner: CallOwner
  /** How long an identical request means the same call, where it is not the usual time, ms. */
  readonly sameForMs?: number | undefined
  readonly timing?: Timing | undefined
  /** When the request has to be answered, by `performance.now` (that clock is never set), ms. */
  readonly until: number
}

/** What recognising a call that was placed before works with. */
export interface RepeatContext extends LookupContext {
  readonly pendingPermits: PendingPermits
}

/** What placing a call works with. */
export interface PlacingContext extends RepeatContext {
  /** Asked right before a call is sent, and only then; throws where it may not be sent. */
  readonly permit: (call: CallKey) => Promise<Permit>
}

/** The request that asks for a call. */
export interface ForRequest {
  readonly request: RouteRequest
}
