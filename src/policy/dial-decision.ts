/** A call that is to be placed. */
export interface DialRequest {
  readonly accountId: string
  readonly agentId: string
  /** `null` when it is not known. */
  readonly agentName: string | null
  /** A web call dials no telephone. */
  readonly type: 'phone' | 'web'
  /** E.164; `null` when the platform chooses, or for a web call. */
  readonly fromNumber: string | null
  /** E.164; `null` for a web call. */
  readonly toNumber: string | null
}

/** What the called number tells; `null` where it does not tell, and for a web call. */
export interface Destination {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null
  /** libphonenumber's word, such as MOBILE. */
  readonly type: string | null
}

export interface DialAllowed {
  readonly allowed: true
  readonly destination: Destination
}

/** The texts are for an assistant to tell a person. */
export interface DialRefused {
  readonly allowed: false
  /** Field of the policy, or `emergency`, `premium`, `invalid_number`. */
  readonly rule: string
  /** What was refused, and why. */
  readonly message: string
  /** Who can change that, and where. */
  readonly change: string
  /** When to try again; `null` when waiting does not help, or the time is unknown. */
  readonly retryAfterSeconds: number | null
}

export type DialDecision = DialAllowed | DialRefused
