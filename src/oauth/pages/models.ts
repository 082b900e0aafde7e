/*
 * What the pages show. Every text may come from outside (a client chooses its own name); the pages
 * escape and shorten it.
 */

/** The parts of access that a person can allow, from the weakest to the strongest. */
export const scopeNames = ['read', 'write', 'call'] as const
export type ScopeName = (typeof scopeNames)[number]

/** The program that asks for access. */
export interface AskingClient {
  /** Its own name; anyone can choose any name. */
  readonly name: string | undefined
  /**
   * How this server knows the client: by a document at the address that is its id, which proves the
   * host; by its own registration, which proves nothing; or from the operator's settings.
   */
  readonly known: 'by_document' | 'by_registration' | 'by_operator'
  /** Its id; for a client known by its document the https address of that. */
  readonly id: string
  /** The address to which the person is sent back. */
  readonly redirectUri: string
}

export interface KeyAccount {
  readonly id: string
  readonly name: string | undefined
}

/** Why a key was not taken. */
export type KeyProblem =
  /** The field was empty. */
  | { readonly kind: 'missing' }
  /** It has characters that no key has, or it is a token of this server. */
  | { readonly kind: 'malformed' }
  /** The platform does not know it. */
  | { readonly kind: 'wrong' }
  /** The platform knows it and refuses it, or this server does not serve its account. */
  | { readonly kind: 'no_access' }
  /** The platform gave no answer, so the key was not checked. */
  | { readonly kind: 'unreachable' }
  /** Too many keys were tried; the next may be tried after this time. */
  | { readonly kind: 'too_many'; readonly retryAfterSeconds: number }

/** What both forms need. */
interface FormModel {
  readonly client: AskingClient
  /** The path that the form is sent to. */
  readonly action: string
  /** Proof that the form is ours and belongs to this request (against forged requests). */
  readonly formToken: string
}

/** The first step: the person gives a key of the platform. */
export interface KeyFormModel extends FormModel {
  readonly page: 'key'
  /** The host to which the key is sent; `sandbox` without a platform. */
  readonly platform: { readonly host: string } | 'sandbox'
  readonly problem?: KeyProblem | undefined
}

/** The second step: the person allows or cancels. */
export interface ConsentFormModel extends FormModel {
  readonly page: 'consent'
  readonly account: KeyAccount
  readonly isSandbox: boolean
  /** What the client asks for. */
  readonly asked: readonly ScopeName[]
  /** The ticked scopes: at first the requested ones, later the person's choice. */
  readonly ticked: readonly ScopeName[]
  /** True after the form was sent with nothing ticked. */
  readonly nothingTicked?: boolean
  /** For how long the client has access without asking again, in days. */
  readonly days: number
}

/** A page without a form: the request cannot go on. */
export interface ProblemModel {
  readonly page: 'problem'
  readonly problem: /** The request is too old, or this server does not know it. */
    | 'expired'
    /** The form was sent from another site, or with a token that is not of this request. */
    | 'forged'
    /** It was answered before. */
    | 'answered'
    /** The client's request is invalid, so the person cannot be sent back; `detail` says why. */
    | 'invalid'
    /** The client's address is one that a browser would run. */
    | 'unsafe_return'
    /** Too many requests for access, or documents to fetch, came from one network. */
    | 'too_many'
    /** The state cannot be used at the moment. */
    | 'unavailable'
    /** A defect of this server. */
    | 'failed'
  readonly detail?: string | undefined
}

/** After the answer: back to the client. */
export interface ReturnModel {
  readonly page: 'return'
  /** The client's redirect address, with its code or the error. */
  readonly address: string
}

export type PageModel = KeyFormModel | ConsentFormModel | ProblemModel | ReturnModel
