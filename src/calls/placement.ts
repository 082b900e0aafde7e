import type { Failure } from '../api/failure.ts'
import type { Call, PlacedCall } from '../contract/call.ts'

/** A call that exists. */
export interface Placement {
  readonly call: PlacedCall | Call
  readonly externalId: string
  /** The call was there already: an identical request had placed it. */
  readonly isRepeat: boolean
  /** False: the platform has a record of it, and said that it did not take the call. */
  readonly isTaken: boolean
}

/** Nobody knows whether the call was placed. */
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

/** The external id stands for another call. */
export class ExternalIdTaken extends Error {
  override readonly name = 'ExternalIdTaken'
}

/** Leave to send one call. */
export interface Permit {
  /** The call was not placed after all. */
  cancel(): Promise<void>
  /** The call exists. */
  placed(callId: string): Promise<void>
}
