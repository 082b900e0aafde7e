import type { FieldError } from '../contract/error.ts'
import type { Effect, Method } from '../contract/route.ts'

/** The platform said no, in its documented envelope. */
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

/** What is wrong with a reply that is not the documented JSON. */
export type UnreadableReason =
  | 'html'
  | 'empty'
  | 'cut_off'
  | 'not_json'
  | 'too_large'
  /** JSON, but not of the documented shape. */
  | 'unexpected_shape'

/** A reply came, but not the documented JSON: a proxy's page, nothing, half of it. */
export interface Unreadable {
  kind: 'unreadable'
  status: number
  reason: UnreadableReason
  /** What exactly, for a shape: the field and what was expected. */
  detail: string | null
  /** The reply, or the beginning of it. */
  excerpt: string
  requestId: string | null
  retryAfter: number | null
}

/** No reply: the connection could not be made, or broke. */
export interface NetworkFailure {
  kind: 'network'
  /** System or undici error code, such as ECONNREFUSED. */
  code: string
  /** Whether the request may have reached the platform. */
  maybeSent: boolean
}

/** Whether a code says that the platform's certificate is not trusted: no new try changes that. */
export const isCertificateProblem = (code: string): boolean => /CERT|^UNABLE_TO_/.test(code)

/** No reply in time. */
export interface TimedOut {
  kind: 'timeout'
  /** What was waited for: the first byte of the reply, or all of it. */
  waitingFor: 'headers' | 'body'
  /** How long was waited, all tries together. */
  afterMs: number
  maybeSent: boolean
}

/** The platform pointed somewhere else, and that was not followed. */
export interface Redirected {
  kind: 'redirected'
  status: number
  /** Another origin, where the key is not taken; not to be sent again; a circle; no address. */
  reason: 'elsewhere' | 'not_repeatable' | 'too_many' | 'nowhere'
  /** Origin pointed to; empty when the redirect names no usable address. */
  origin: string
}

/** A path parameter that would address something else: empty, `.` or `..`. */
export interface BadParameter {
  kind: 'bad_parameter'
  name: string
  value: string
}

/** The caller gave up. */
export interface Cancelled {
  kind: 'cancelled'
  maybeSent: boolean
}

/** It was not asked: no tool that is exposed reads this, or not of this account. */
export interface NotExposed {
  kind: 'not_exposed'
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
  | Cancelled

/** A failure on its way up; built where it is known, turned into words in one place (mcp). */
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

/** Thrown by a sender; the client adds the operation. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure'
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.kind)
    this.failure = failure
  }
}
