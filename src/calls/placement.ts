import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import type { Client } from '../platform/client.ts'
import type { Failure } from '../platform/failure.ts'
import type { DialPolicy } from '../policy/dial-policy.ts'
import { type CallKey, type Journal, type JournalEntry, JournalError } from '../state/journal.ts'
import type { CallBatches } from '../state/records.ts'
import type { CallFollower } from './call-follower.ts'
import type { CallsUnderWay } from './calls-under-way.ts'

/** A call that exists on the platform. */
export interface Placement {
  readonly call: PlacedCall | Call
  readonly externalId: string
  /** True: an earlier identical request placed the call. */
  readonly isRepeat: boolean
  /** False: the platform has a record of the call but did not accept it. */
  readonly isAccepted: boolean
}

/** Why the platform's list is inconclusive; see listed-call.ts. */
export type Doubt =
  /** The caller's external id belongs to a call to somebody else. */
  | { readonly kind: 'another person'; readonly call: Call }
  | { readonly kind: 'may be it'; readonly call: Call }
  /** The list could not be read to its end. */
  | { readonly kind: 'endless list' }
  /** The outcome of another request under the caller's id is unknown. */
  | { readonly kind: 'another request' }

interface Unknown {
  /** Why the platform gave no answer, if it failed. */
  readonly failure?: Failure | undefined
  readonly doubt?: Doubt | undefined
  /**
   * True if this request was sent, now or before; otherwise another installation may have placed
   * the call.
   */
  readonly wasSent?: boolean
}

/** Error: it is unknown whether the call was placed. */
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
 * The caller's external id, which this server never sent for this call, belongs to another call.
 */
export class ExternalIdConflict extends Error {
  override readonly name = 'ExternalIdConflict'
  /** The known fields of the call that has the external id. */
  readonly call: Partial<Call>

  constructor(call: Partial<Call>) {
    super('The external id stands for another call')
    this.call = call
  }
}

/** Permission to send one call, counted against the dial policy's limits. */
export interface Permit {
  /** Call right before sending; throws if calls have been stopped since. */
  refuseIfStopped(): Promise<void>
  /** There is no call: the permit no longer counts against the limits. */
  cancel(): Promise<void>
  placed(callId: string): Promise<void>
}

interface Timing {
  /** Time limit for asking the platform for a call's outcome, ms. */
  readonly findOutMs: number
  /**
   * Time after the sender's deadline from which an unlisted call was certainly not placed, ms:
   * longer than a proxy, a queue or the platform holds a request.
   */
  readonly settledMs: number
}

/** Context for finding the outcome of a call, placed now or before. */
export interface LookupContext {
  /** The request that places the call. */
  readonly request: RouteRequest
  readonly client: Client
  readonly journal: Journal
  readonly callOwner: string
  /** Overrides the time for which an identical request means the same call, ms. */
  readonly sameForMs?: number | undefined
  readonly timing: Timing
  /** Deadline of the request, by `performance.now` (a clock that is never set), ms. */
  readonly until: number
  /**
   * Permits of a call without a recorded outcome, on any server: its reply was lost, or the server
   * was killed. The request that finds the call's outcome settles these permits. Never throws.
   */
  readonly pendingPermits: (call: CallKey) => Promise<readonly Permit[]>
}

/** Context for placing a call. */
export interface PlacingContext extends LookupContext {
  /** Requested right before a call is sent, and only then; throws if it may not be sent. */
  readonly permit: (call: CallKey) => Promise<Permit>
}

/** There is a call: each of its permits counts until its end. */
export async function settlePlaced(
  call: CallKey,
  callId: string,
  { pendingPermits }: LookupContext,
): Promise<void> {
  for (const permit of await pendingPermits(call)) await permit.placed(callId)
}

/**
 * There is no call while its entry has this stamp: the entry becomes free, and its permits void.
 * The permits are read first: a holder of one of them holds the entry with an outdated stamp, so
 * nothing more is sent with it, and a later permit belongs to a later claim. An entry without
 * permits stays unchanged. Returns the resulting entry. Throws JournalError.
 */
export async function settleAbsent(
  entry: JournalEntry,
  { journal, pendingPermits }: LookupContext,
): Promise<JournalEntry> {
  const permits = await pendingPermits(entry)
  if (permits.length === 0) return entry
  await journal.release(entry)
  const current = await journal.current(entry)
  if (current?.state !== 'free') return entry
  for (const permit of permits) await permit.cancel()
  return current
}

/**
 * Writes a known outcome to the journal, if possible: otherwise the next identical request asks the
 * platform.
 */
export async function recordIfPossible(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
  }
}

/** Services for placing and following calls; one per server process, shared by its sessions. */
export interface CallServices {
  /** Opens on first use. Throws JournalError. */
  readonly journal: () => Promise<Journal>
  readonly batches: CallBatches
  readonly policy: DialPolicy
  readonly follower: CallFollower
  /** `undefined` if the operator has set no limit of concurrent calls. */
  readonly underWay: CallsUnderWay | undefined
  readonly timing: Timing
}
