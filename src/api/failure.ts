import type { FieldError } from '../contract/error.ts'
import type { Effect, Method } from '../contract/route.ts'

/** The platform answered with an error in its documented envelope. */
export interface Rejected {
  kind: 'rejected'
  status: number
  code: string
  message: string
  detail: string | null
  errors: FieldError[]
  requestId: string | null
  /** Seconds the platform asks to wait before the next try. */
  retryAfter: number | null
}

/** Why a reply is not the documented JSON. */
export type UnreadableReason =
  | 'html'
  | 'empty'
  | 'cut_off'
  | 'not_json'
  | 'too_large'
  /** JSON, but not of the documented shape. */
  | 'unexpected_shape'

/** The reply is not the documented JSON: a page of a proxy, nothing, or a part. */
export interface Unreadable {
  kind: 'unreadable'
  status: number
  reason: UnreadableReason
  /** For an unexpected shape: the field, and what was expected there. */
  detail: string | null
  /** The reply, or the beginning of it. */
  excerpt: string
  requestId: string | null
  retryAfter: number | null
}

/** No reply: there was no connection, or it broke. */
export interface NetworkFailure {
  kind: 'network'
  /** System or undici error code, such as ECONNREFUSED. */
  code: string
  /** Whether the request may have reached the platform. */
  maybeSent: boolean
}

/** Whether the platform's certificate is not trusted. A new try cannot change that. */
export const isCertificateProblem = (code: string): boolean => /CERT|^UNABLE_TO_/.test(code)

/** No reply in time. */
export interface TimedOut {
  kind: 'timeout'
  /** What was waited for: the first byte of the reply, or all of it. */
  waitingFor: 'headers' | 'body'
  /** How long was waited, all tries together, ms. */
  afterMs: number
  maybeSent: boolean
}

/** The platform answered with a redirect that is not followed. */
export interface Redirected {
  kind: 'redirected'
  status: number
  /** To another origin, where the key is not sent; the request must not be repeated; a circle; no address. */
  reason: 'elsewhere' | 'not_repeatable' | 'too_many' | 'nowhere'
  /** Origin pointed to; empty when the redirect names no usable address. */
  origin: string
}

/** A path parameter that would lead to another resource: empty, `.` or `..`. */
export interface BadParameter {
  kind: 'bad_parameter'
  name: string
  value: string
}

/** The caller cancelled the request. */
export interface Cancelled {
  kind: 'cancelled'
  maybeSent: boolean
}

/** Nothing was sent: no exposed tool reads this, or not from this account. */
export interface NotExposed {
  kind: 'not_exposed'
}

/** Nothing was sent: it could not be recorded before, and the operator wants every change recorded. */
export interface NotRecorded {
  kind: 'not_recorded'
  reason: string
  maybeSent: false
}

/** Everything that can go wrong between a request and its parsed reply. */
export type Failure =
  | Rejected
  | Unreadable
  | NetworkFailure
  | TimedOut
  | Redirected
  | BadParameter
  | NotExposed
  | NotRecorded
  | Cancelled

/** A failed operation. src/mcp/call/advice.ts and failure-text.ts turn it into words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly failure: Failure
  /** The operation, such as `POST /v1/accounts/{account_id}/calls`. */
  readonly method: Method
  readonly path: string
  readonly effect: Effect
  /** How often it was tried. */
  readonly attempts: number

  constructor(
    failure: Failure,
    operation: { method: Method; path: string; effect: Effect; attempts: number },
  ) {
    super(`${operation.method} ${operation.path}: ${failure.kind}`)
    this.failure = failure
    this.method = operation.method
    this.path = operation.path
    this.effect = operation.effect
    this.attempts = operation.attempts
  }
}

/** For `catch`: what the platform cannot give is left out. Other errors are thrown. */
export function ignoreApiError(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}

/** Thrown by a sender; the client adds the operation. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure'
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.kind)
    this.failure = failure
  }
}
