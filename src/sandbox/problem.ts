import {
  type ErrorEnvelope,
  type ErrorStatus,
  errorCodes,
  type FieldError,
} from '../contract/error.ts'

/** Statuses of the sandbox: the documented ones, and 413, which proxies send for long bodies. */
type ProblemStatus = ErrorStatus | 413

const codes: Readonly<Record<ProblemStatus, string>> = { ...errorCodes, 413: 'payload_too_large' }

/** An error reply, in the platform's envelope. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: ProblemStatus
  readonly detail: string | null
  readonly errors: FieldError[] | null
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: ProblemStatus,
    message: string,
    more: { detail?: string; errors?: FieldError[]; allow?: Iterable<string> } = {},
  ) {
    super(message)
    this.status = status
    this.detail = more.detail ?? null
    this.errors = more.errors ?? null
    // A reply of 405 needs the header Allow (RFC 9110 §15.5.6).
    this.headers = more.allow ? { allow: [...more.allow].join(', ') } : {}
  }

  response(): Response {
    const { status, headers, message, detail, errors } = this
    const envelope: ErrorEnvelope = { code: codes[status], message, detail, errors }
    return Response.json(envelope, { status, headers })
  }
}

export const notFound = (what: string, id: string) =>
  new Problem(404, `${what} not found.`, { detail: `No ${what.toLowerCase()} with id ${id}.` })

/** 404 for a body that refers to a missing resource [B], with the field in `detail` [S]. */
export const missingReference = (field: string, what: string, id: string) =>
  new Problem(404, `${what} not found.`, {
    detail: `body.${field}: no ${what.replace(/^Agent/, 'agent')} with id ${id} in this account.`,
  })

/** 422 for a valid request with a field that contradicts stored data. */
export const invalid = (field: string, message: string, type = 'value_error') =>
  new Problem(422, 'The request is not valid.', { errors: [{ field, message, type }] })
