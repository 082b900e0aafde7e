import type { FieldError } from '../contract/error.ts'
import type { Effect, Method } from '../contract/route.ts'
import { firstCharacters } from '../text/safe-text.ts'

/** The platform refused the request, with its documented error envelope. */
export interface Rejected {
  kind: 'rejected'
  status: number
  code: string
  message: string
  detail: string | null
  errors: FieldError[]
  requestId: string | null
  /** Seconds after which the platform allows a retry; `null`: it names none. */
  retryAfter: number | null
}

/** Reason why a reply is not the documented JSON. */
export type UnreadableReason =
  | 'html'
  | 'empty'
  | 'cut_off'
  | 'not_json'
  | 'too_large'
  /** JSON, but not of the documented shape. */
  | 'unexpected_shape'

/** The reply is not the documented JSON: a proxy's page, an empty body, or part of a reply. */
export interface Unreadable {
  kind: 'unreadable'
  status: number
  reason: UnreadableReason
  /** For an unexpected shape: the field, and what was expected there. */
  detail: string | null
  /** Text of the reply, perhaps only its beginning. */
  excerpt: string
  requestId: string | null
  retryAfter: number | null
}

/** There is no reply: no connection was made, or it broke. */
export interface NetworkFailure {
  kind: 'network'
  /** System or undici error code, such as ECONNREFUSED. */
  code: string
  /** True if the request may have reached the platform. */
  maybeSent: boolean
}

/** True if the platform's certificate is not trusted. A retry cannot change that. */
export const isCertificateProblem = (code: string): boolean => /CERT|^UNABLE_TO_/.test(code)

/** The request ran out of time. */
export interface TimedOut {
  kind: 'timeout'
  /** The awaited part of the reply: its first byte or its end. */
  waitingFor: 'headers' | 'body'
  /** Time waited over all attempts, ms. */
  afterMs: number
  maybeSent: boolean
}

/** The platform replied with a redirect that the client does not follow. */
export interface Redirected {
  kind: 'redirected'
  status: number
  /**
   * `elsewhere`: to another origin, which must not get the API key. `not_repeatable`: the request
   * must not be sent twice. `too_many`: the chain is too long, or a circle. `nowhere`: no address.
   */
  reason: 'elsewhere' | 'not_repeatable' | 'too_many' | 'nowhere'
  /** Target origin; empty if the redirect has no usable address. */
  origin: string
}

/** A path parameter that would address another resource: empty, `.` or `..`. */
interface BadParameter {
  kind: 'bad_parameter'
  name: string
  value: string
}

/** The caller cancelled the request. */
export interface Cancelled {
  kind: 'cancelled'
  maybeSent: boolean
}

/**
 * Nothing was sent: no exposed tool reads this object, or no tool may read it from this account.
 */
interface NotExposed {
  kind: 'not_exposed'
}

/**
 * Nothing was sent: the change could not be recorded, and the operator requires a record of every
 * change.
 */
interface NotRecorded {
  kind: 'not_recorded'
  maybeSent: false
}

/** Every failure between a request and its parsed reply. */
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

/** A failed operation. `failureText` describes it; src/tool/api-error-advice.ts gives advice. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly failure: Failure
  /** The operation, such as `POST /v1/accounts/{account_id}/calls`. */
  readonly method: Method
  readonly path: string
  readonly effect: Effect
  /** Number of attempts. */
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

/**
 * A handler for `catch`, for data that may be missing. Returns `undefined` for an ApiError and
 * rethrows other errors.
 */
export function ignoreApiError(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}

/** True for a 404, with or without the platform's error envelope. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && 'status' in error.failure && error.failure.status === 404

/** True if the platform replied with one of these statuses and its error envelope. */
export const isRejectedWith = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof ApiError &&
  error.failure.kind === 'rejected' &&
  statuses.includes(error.failure.status)

/**
 * Resolves with `undefined` if the platform replies that the object does not exist, or if no path
 * can contain its id. Throws other ApiErrors.
 */
export async function unlessMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    const isNoId = error instanceof ApiError && error.failure.kind === 'bad_parameter'
    if (isNoId || isRejectedWith(error, 404)) return undefined
    throw error
  }
}

/** Thrown by a sender. The client turns it into an ApiError with the operation. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure'
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.kind)
    this.failure = failure
  }
}

/** Maximum length of a platform message that is repeated, characters. */
const longestMessage = 500

/** A failure as a short phrase within a sentence. */
export function failureText(failure: Failure): string {
  switch (failure.kind) {
    case 'rejected':
      return `the platform answered HTTP ${failure.status} ${failure.code}: ${firstCharacters(failure.message, longestMessage).replace(/\.+$/, '')}`
    case 'unreadable':
      return `the platform answered HTTP ${failure.status} with an unusable reply (${failure.reason})`
    case 'redirected':
      return `the platform answered HTTP ${failure.status}, a redirect, which is not followed`
    case 'network':
      return `the connection to the platform failed, ${failure.code}`
    case 'timeout':
      return 'the platform did not answer in time'
    case 'cancelled':
      return 'the request was cancelled'
    case 'bad_parameter':
      return `"${failure.value}" is not an id`
    case 'not_exposed':
      return 'no exposed tool reads it'
    case 'not_recorded':
      return 'it cannot be recorded, so nothing was sent'
  }
}

/** True if the request may have changed something despite its failure. */
export const mayBeDone = ({ failure, effect }: ApiError): boolean =>
  effect !== 'reads' && mayBeCarriedOut(failure)

/** The parts of a failure that show whether its request took effect. */
interface FailureFacts {
  readonly kind: string
  readonly maybeSent?: boolean | undefined
  readonly status?: number | undefined
}

/** True if the platform may have carried out a request despite this failure. */
export function mayBeCarriedOut({ kind, maybeSent, status = 0 }: FailureFacts): boolean {
  if (maybeSent !== undefined) return maybeSent
  if (kind === 'unreadable') return status < 400 || status >= 500
  return kind === 'rejected' && status >= 500
}
