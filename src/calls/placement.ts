import type { Failure } from '../api/failure.ts'
import type { Call, PlacedCall } from '../contract/call.ts'

/** A call that exists on the platform. */
export interface Placement {
  readonly call: PlacedCall | Call
  readonly externalId: string
  /** An earlier identical request has placed it. */
  readonly isRepeat: boolean
  /** False: the platform has a record of the call, and did not accept it. */
  readonly isAccepted: boolean
}

/** It is unknown whether the call was placed. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
  readonly externalId: string
  readonly failure: Failure | undefined

  constructor(externalId: string, failure: Failure | undefined) {
    super(`It is not known whether the call ${externalId} was placed`)
    this.externalId = externalId
    this.failure = failure
  }
}

/** The external id belongs to another call. */
export class ExternalIdConflict extends Error {
  override readonly name = 'ExternalIdConflict'
}

/** Permission to send one call, which counts for the limits of the dial policy. */
export interface Permit {
  /** There is no call: it counts no more. */
  cancel(): Promise<void>
  /** The call exists. */
  placed(callId: string): Promise<void>
}
