/** A call that somebody wants to place. */
export interface DialRequest {
  readonly accountId: string
  readonly agentId: string
  /** `null` when it is not known. */
  readonly agentName: string | null
  /** A web call rings nobody's telephone. */
  readonly type: 'phone' | 'web'
  /** E.164; `null` when the platform chooses or for a web call. */
  readonly fromNumber: string | null
  /** E.164; `null` for a web call. */
  readonly toNumber: string | null
}

export interface Allowed {
  readonly allowed: true
  /** What the destination is; `null` where the number does not tell, and for a web call. */
  readonly facts: {
    /** ISO 3166-1 alpha-2. */
    readonly country: string | null
    /** libphonenumber's word, such as MOBILE. */
    readonly type: string | null
  }
}

/** Texts are for an assistant to read to a person. */
export interface Refused {
  readonly allowed: false
  /** Field of the policy, or `emergency`, `premium`, `invalid_number`. */
  readonly rule: string
  /** What was refused, and why. */
  readonly message: string
  /** Who can change that, and where. */
  readonly change: string
  /** When it may be tried again; `null` when waiting does not help or nobody knows. */
  readonly retryAfterSeconds: number | null
}

export type Verdict = Allowed | Refused
