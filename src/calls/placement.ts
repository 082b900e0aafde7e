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
  /** An earlier identical request has placed it. */
  readonly isRepeat: boolean
  /** False: the platform has a record of the call, and did not accept it. */
  readonly isAccepted: boolean
}

/** Why the platform's list does not tell whether there is a call; see listed-call.ts. */
export type Doubt =
  /** The caller's external id belongs to a call to somebody else. */
  | { readonly kind: 'another person'; readonly call: Call }
  | { readonly kind: 'may be it'; readonly call: Call }
  /** The list was not read to its end. */
  | { readonly kind: 'endless list' }
  /** The outcome of another request under the caller's id is not known. */
  | { readonly kind: 'another request' }

interface Unknown {
  /** Why the platform did not tell, where it failed. */
  readonly failure?: Failure | undefined
  readonly doubt?: Doubt | undefined
  /** Whether this request was sent, now or before; otherwise another installation may have placed it. */
  readonly wasSent?: boolean
}

/** It is unknown whether the call was placed. */
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

/** The external id, which the caller gave and this server never sent for this call, is another call's. */
export class ExternalIdConflict extends Error {
  override readonly name = 'ExternalIdConflict'
  /** The other call, as far as it is known. */
  readonly call: Partial<Call>

  constructor(call: Partial<Call>) {
    super('The external id stands for another call')
    this.call = call
  }
}

/** Permission to send one call, which counts for the limits of the dial policy. */
export interface Permit {
  /** To be asked right before the request is sent; throws where calls have been stopped since. */
  refuseIfStopped(): Promise<void>
  /** There is no call: it counts no more. */
  cancel(): Promise<void>
  placed(callId: string): Promise<void>
}

interface Timing {
  /** How long the platform is asked for the outcome of a call, ms. */
  readonly findOutMs: number
  /**
   * How long after its sender's deadline a call that the platform does not list was certainly not
   * placed, ms: longer than a proxy, a queue or the platform holds a request before acting on it.
   */
  readonly settledMs: number
}

/** What finding the outcome of a call, placed now or before, works with. */
export interface LookupContext {
  /** Asks for the call. */
  readonly request: RouteRequest
  readonly client: Client
  readonly journal: Journal
  readonly callOwner: string
  /** How long an identical request means the same call, where it is not the usual time, ms. */
  readonly sameForMs?: number | undefined
  readonly timing: Timing
  /** When the request has to be answered, by `performance.now` (that clock is never set), ms. */
  readonly until: number
  /**
   * Permits of a call whose outcome was not recorded, on whichever server they were given: its answer
   * was lost, or the server was killed. Who finds out what became of such a call settles its permits.
   * Never throws.
   */
  readonly pendingPermits: (call: CallKey) => Promise<readonly Permit[]>
}

/** What placing a call works with. */
export interface PlacingContext extends LookupContext {
  /** Asked right before a call is sent, and only then; throws where it may not be sent. */
  readonly permit: (call: CallKey) => Promise<Permit>
}

/** There is a call: each of its permits counts until it has ended. */
export async function settlePlaced(
  call: CallKey,
  callId: string,
  { pendingPermits }: LookupContext,
): Promise<void> {
  for (const permit of await pendingPermits(call)) await permit.placed(callId)
}

/**
 * There is no call as long as its entry has this stamp: the entry becomes free, and its permits are
 * void. They are read before that: who holds one of them holds the entry with a stamp that is over,
 * so that nothing is sent with it any more. A permit that is given later belongs to a later claim. An
 * entry without permits stays as it is. Returns the entry as it is then. Throws JournalError.
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
 * Writes a known outcome to the journal. The outcome is a fact whether or not it can be written: if
 * not, the next identical request asks the platform.
 */
export async function recordIfPossible(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
  }
}

/** What placing and following calls needs; one for a server process, shared by all its sessions. */
export interface CallServices {
  /** Opened with the first call. Throws JournalError. */
  readonly journal: () => Promise<Journal>
  readonly batches: CallBatches
  readonly policy: DialPolicy
  readonly follower: CallFollower
  /** `undefined`: the operator has set no limit of calls at once. */
  readonly underWay: CallsUnderWay | undefined
  readonly timing: Timing
}
