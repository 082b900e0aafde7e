import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import type { Client } from '../platform/client.ts'
import type { Failure } from '../platform/failure.ts'
import type { DialPolicy } from '../policy/dial-policy.ts'
import type { CallBatches } from '../state/call-batches.ts'
import type { CallKey, Journal } from '../state/call-journal.ts'
import type { CallFollower } from './call-follower.ts'
import type { RunningCalls } from './running-calls.ts'

/*
 * The types of placing a call: results, errors, permits, and the services that all steps share.
 * Also decides which failures prove that no call was placed.
 */

/** A call that exists on the platform. */
export interface Placement {
  readonly call: PlacedCall | Call
  readonly externalId: string
  /** True: an earlier identical request placed the call. */
  readonly isRepeat: boolean
  /** False: the platform recorded the call but did not accept it. */
  readonly isAccepted: boolean
}

/**
 * Reason why the platform's list proves neither that the call exists nor that it does not; see
 * call-matching.ts.
 */
export type Doubt =
  /** The caller's external id belongs to a call to another person. */
  | { readonly kind: 'another person'; readonly call: Call }
  | { readonly kind: 'may be it'; readonly call: Call }
  /** The list could not be read to its end. */
  | { readonly kind: 'endless list' }
  /** Another request under the caller's external id was sent, and its outcome is unknown. */
  | { readonly kind: 'another request' }

interface Unknown {
  /** The reason why the platform gave no answer; absent if it answered. */
  readonly failure?: Failure | undefined
  readonly doubt?: Doubt | undefined
  /**
   * True if this request was sent, now or earlier. Otherwise another installation may have placed
   * the call.
   */
  readonly wasSent?: boolean
}

/** Thrown if it is unknown whether the call was placed. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
  readonly externalId: string
  readonly failure: Failure | undefined
  readonly doubt: Doubt | undefined
  readonly wasSent: boolean

  constructor(externalId: string, { failure, doubt, wasSent = true }: Unknown = {}) {
    super(`It is not known whether the call ${externalId} was placed`)
    this.externalId = externalId
    this.failure = failure
    this.doubt = doubt
    this.wasSent = wasSent
  }
}

/**
 * The caller's external id belongs to another call. This server has not sent the requested call
 * under that id.
 */
export class ExternalIdConflict extends Error {
  override readonly name = 'ExternalIdConflict'
  /** Known fields of the call that has the external id. */
  readonly call: Partial<Call>

  constructor(call: Partial<Call>) {
    super('The external id stands for another call')
    this.call = call
  }
}

/**
 * Client error statuses after which the call may exist. A proxy that stops waiting for the platform
 * replies 408, 460 or 499. A 409 may concern this very call, if external ids are unique.
 */
const ambiguous = new Set([408, 409, 460, 499])

/**
 * Statuses that prove that the request was not processed, even if the reply lacks the platform's
 * error body.
 */
const refusedUnread = new Set([401, 403, 404, 405, 411, 413, 414, 415, 429, 431])

/** True if a failed request certainly placed no call, because it was not sent or was refused. */
export function isNotPlaced(failure: Failure): boolean {
  if ('maybeSent' in failure) return !failure.maybeSent
  switch (failure.kind) {
    case 'bad_parameter':
      return true
    case 'rejected':
      return failure.status >= 400 && failure.status < 500 && !ambiguous.has(failure.status)
    case 'unreadable':
      return refusedUnread.has(failure.status)
    default:
      return false
  }
}

/** Permission to send one phone or web call. Counts against the limits of the dial policy. */
export interface Permit {
  /** Must run right before sending. Throws if calls were stopped after the permit was given. */
  refuseIfStopped(): Promise<void>
  /** Reports that the call was not placed: the permit no longer counts. */
  notPlaced(): Promise<void>
  /** Reports that the call was placed. */
  placed(callId: string): Promise<void>
}

interface Timing {
  /** Time limit for finding the outcome of a call, ms. */
  readonly findOutMs: number
  /**
   * Time after the sender's deadline, ms, from which on an unlisted call was certainly not placed.
   * Exceeds the time for which a proxy, a queue or the platform holds a request.
   */
  readonly settledMs: number
}

/** Context for finding the outcome of a call that was placed now or earlier. */
export interface LookupContext {
  /** The request that places the call. */
  readonly request: RouteRequest
  readonly client: Client
  readonly journal: Journal
  readonly callOwner: string
  /** Time for which an identical request means the same call, ms; default `sameCallMs`. */
  readonly sameForMs?: number | undefined
  readonly timing: Timing
  /** Deadline of the request, a time of `performance.now`, ms. Nobody can set that clock. */
  readonly until: number
  /**
   * Permits of a call, from all servers, whose outcome was never recorded: the reply was lost, or
   * the server was killed. The request that finds the call's outcome settles these permits. Never
   * throws.
   */
  readonly pendingPermits: (call: CallKey) => Promise<readonly Permit[]>
}

/** Context for placing a call. */
export interface PlacingContext extends LookupContext {
  /** Takes a permit. Must run right before a call is sent. Throws if the call may not be sent. */
  readonly permit: (call: CallKey) => Promise<Permit>
}

/**
 * Services for placing and following phone and web calls. One per server process, shared by all
 * sessions.
 */
export interface CallServices {
  readonly journal: Journal
  readonly batches: CallBatches
  readonly policy: DialPolicy
  readonly follower: CallFollower
  /** `undefined`: the operator has set no limit for concurrent calls. */
  readonly runningCalls: RunningCalls | undefined
  readonly timing: Timing
}
