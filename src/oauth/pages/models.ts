import type { PageParts } from '../../apps/pages/page.ts'

/*
 * Models of the pages, and the parts into which each is rendered. Every text of a model may come from
 * outside (a client chooses its own name); the pages escape and shorten it.
 */

/** Scopes that a person can allow, from the weakest to the strongest. */
export const scopeNames = ['read', 'write', 'call'] as const
export type ScopeName = (typeof scopeNames)[number]

/** The client that asks for access. */
export interface AskingClient {
  /** Name that the client chose itself; not verified. */
  readonly name: string | undefined
  /**
   * How this server knows the client. `by_document`: by a document at the address that is its id,
   * which proves the host. `by_registration`: by its own registration, which proves nothing.
   * `by_operator`: by the operator's settings.
   */
  readonly known: 'by_document' | 'by_registration' | 'by_operator'
  /** Client id; for `by_document` the https address of the document. */
  readonly id: string
  /** Address that the person is sent back to. */
  readonly redirectUri: string
}

export interface KeyAccount {
  readonly id: string
  readonly name: string | undefined
}

/** Why a key was refused. */
export type KeyProblem =
  /** The field was empty. */
  | { readonly kind: 'missing' }
  /** The entered text has characters that no key has, or is a token of this server. */
  | { readonly kind: 'malformed' }
  /** The platform does not know the key. */
  | { readonly kind: 'wrong' }
  /** The platform refuses the key, or this server does not serve the key's account. */
  | { readonly kind: 'no_access' }
  /** The platform did not answer, so the key is unchecked. */
  | { readonly kind: 'unreachable' }
  /** Too many attempts; retry after this time. */
  | { readonly kind: 'too_many'; readonly retryAfterSeconds: number }

/** Fields of both forms. */
interface FormModel {
  readonly client: AskingClient
  /** Path that the form is sent to. */
  readonly action: string
  /** CSRF token of this request. */
  readonly formToken: string
  /** Query of the authorization request, so that the person can open it again when it has expired. */
  readonly again: string
}

/** First step: entering a platform key. */
export interface KeyFormModel extends FormModel {
  readonly page: 'key'
  /** Host that receives the key, or `sandbox`. */
  readonly platform: { readonly host: string } | 'sandbox'
  readonly problem?: KeyProblem | undefined
}

/** Second step: allow or cancel. */
export interface ConsentFormModel extends FormModel {
  readonly page: 'consent'
  readonly account: KeyAccount
  readonly isSandbox: boolean
  /** Scopes that the client requests. */
  readonly asked: readonly ScopeName[]
  /** Scopes that are ticked when the page opens: see `notPreselected`. */
  readonly ticked: readonly ScopeName[]
  /** The form was sent with nothing ticked. */
  readonly nothingTicked?: boolean
  /** Lifetime of the access, days. */
  readonly days: number
}

/** A page without a form: the request cannot continue. */
export interface ProblemModel {
  readonly page: 'problem'
  readonly problem: /** The request is too old, or this server does not know it. */
    | 'expired'
    /** The form came from another site, or with another request's token. */
    | 'forged'
    /** Answered before. */
    | 'answered'
    /**
     * The client's request is invalid, so the person cannot be sent back; `detail` has the reason.
     */
    | 'invalid'
    /** The client's redirect URI is refused, because a browser would run it as a script. */
    | 'unsafe_return'
    /** Too many authorization requests or document fetches from one network. */
    | 'too_many'
    /** The state is unavailable. */
    | 'unavailable'
    /** A defect of this server. */
    | 'failed'
  readonly detail?: string | undefined
  /** Address at which the person can open the expired request again. */
  readonly again?: string | undefined
}

/** Final page, which leads back to the client. */
export interface ReturnModel {
  readonly page: 'return'
  /** Name that the client chose itself; not verified. */
  readonly name: string | undefined
  /** The client's redirect URI, with the authorization code or the error. */
  readonly address: string
}

export type PageModel = KeyFormModel | ConsentFormModel | ProblemModel | ReturnModel

/**
 * Parts of a page. The page's forms may be sent to this server, and may redirect to `redirectUri`.
 */
export interface OauthPageParts extends Omit<PageParts, 'script' | 'style' | 'formAction'> {
  readonly redirectUri?: string
}
