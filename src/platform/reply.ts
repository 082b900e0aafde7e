import * as z from 'zod'
import { ErrorEnvelope, type FieldError } from '../contract/error.ts'
import type { Route } from '../contract/route.ts'
import { boundExceededByText, type JsonBound, jsonIn } from '../text/json.ts'
import type { Failure, Rejected, UnreadableReason } from './failure.ts'
import { type Drift, noteDrift, withoutDrift } from './reply-drift.ts'

/** Maximum size of a reply, bytes. */
export const maxReplyBytes = 10 * 1024 * 1024

/**
 * Maximum nesting and number of values of a reply. A hundred conversations with a hundred messages
 * each have 41,000 values, and no documented reply nests deeper than ten levels. A reply at these
 * bounds takes about 0.2 s. Without bounds, a reply of 10 MiB takes up to 18 s, or all memory.
 */
const replyBounds = { depth: 500, values: 300_000 }

const excesses: Readonly<Record<JsonBound, readonly [UnreadableReason, string]>> = {
  depth: ['unexpected_shape', `nested more than ${replyBounds.depth} deep`],
  values: ['too_large', `more than ${replyBounds.values} values`],
}

/** A complete reply. */
export interface WireReply {
  readonly status: number
  /** Value of a header by its lower-case name. */
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** Result of one attempt: the reply as data, with its dropped parts, or the failure. */
export type AttemptResult =
  | { ok: true; value: unknown; drift?: readonly Drift[] }
  | { ok: false; failure: Failure }

/** Parses a reply with its route's schema. An error status or an unreadable reply is a failure. */
export function readReply(route: Route, reply: WireReply): AttemptResult {
  const excess = boundExceededByText(reply.body, replyBounds)
  if (excess) return { ok: false, failure: unreadable(reply, ...excesses[excess]) }
  if (reply.status >= 200 && reply.status < 300) return readSuccess(route, reply)
  const json = parseJson(reply.body)
  const envelope = envelopeOf(json)
  if (!envelope) return { ok: false, failure: unreadable(reply, reasonOf(reply.body, json)) }
  return {
    ok: false,
    failure: { kind: 'rejected', status: reply.status, ...envelope, ...failureHeaders(reply) },
  }
}

function readSuccess(route: Route, reply: WireReply): AttemptResult {
  const json = parseJson(reply.body)
  // Even with a success status, the body may be a proxy's HTML page or an error.
  const isPage = json === undefined && reasonOf(reply.body, json) === 'html'
  if (isPage || isError(json)) {
    return { ok: false, failure: unreadable(reply, isPage ? 'html' : 'unexpected_shape') }
  }
  // For a route without a reply schema only the status counts: any body, or none, is a success [R].
  if (!route.reply) return { ok: true, value: undefined }
  if (json === undefined) {
    return { ok: false, failure: unreadable(reply, reasonOf(reply.body, json)) }
  }
  const parsed = parseEarly(route.reply, json)
  if (parsed.success) return { ok: true, value: parsed.data }
  const fitting = withoutDrift(route.reply, json)
  if ('fatal' in fitting)
    return { ok: false, failure: unreadable(reply, 'unexpected_shape', fitting.fatal) }
  const fitted = parseEarly(route.reply, fitting.value)
  if (fitted.success) {
    noteDrift(fitted.data, fitting.drift)
    return { ok: true, value: fitted.data, drift: fitting.drift }
  }
  const failure = unreadable(reply, 'unexpected_shape', firstIssues(fitted.error))
  return { ok: false, failure }
}

/** True for an error envelope. Checks `code` before it parses, because few replies are errors. */
const isError = (json: unknown): boolean =>
  typeof json === 'object' &&
  json !== null &&
  'code' in json &&
  ErrorEnvelope.safeParse(withFirstErrors(json)).success

const withFirstErrors = (json: object) =>
  'errors' in json && Array.isArray(json.errors)
    ? { ...json, errors: json.errors.slice(0, maxFieldErrors) }
    : json

/** The first problems of a reply. Parsing stops early, so the number of problems is unknown. */
function firstIssues({ issues }: z.ZodError): string {
  const shown = issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`)
  return [...shown, ...(issues.length > shown.length ? ['and more'] : [])].join('; ')
}

/** JSON must not begin with a byte order mark (RFC 8259 §8.1), but some servers send one. */
const parseJson = (text: string): unknown => jsonIn(text.replace(/^\uFEFF/, ''))

function reasonOf(body: string, json: unknown): UnreadableReason {
  if (json !== undefined) return 'unexpected_shape'
  const start = body.trimStart()
  if (start === '') return 'empty'
  if (start.startsWith('<')) return 'html'
  return start.startsWith('{') || start.startsWith('[') ? 'cut_off' : 'not_json'
}

function unreadable(
  reply: WireReply,
  reason: UnreadableReason,
  detail: string | null = null,
): Failure {
  return {
    kind: 'unreadable',
    status: reply.status,
    reason,
    detail,
    excerpt: reply.body,
    ...failureHeaders(reply),
  }
}

/** The header fields that every failure keeps. */
export function failureHeaders(reply: Pick<WireReply, 'header'>) {
  return {
    requestId: reply.header('x-request-id') ?? null,
    retryAfter: retryAfterSeconds(reply.header('retry-after')),
  }
}

/** Maximum accepted `Retry-After`, s. A day, because quotas usually last that long. */
const longestRetryAfter = 86_400

/**
 * `Retry-After` in seconds, from digits or an HTTP date (RFC 9110 §10.2.3); null for other values.
 */
function retryAfterSeconds(value: string | undefined): number | null {
  const text = value?.trim() ?? ''
  const date = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((date - Date.now()) / 1000)
  return seconds <= longestRetryAfter ? Math.max(0, seconds) : null
}

/*
 * The error envelope, parsed leniently: a number in place of a string must not hide the error.
 * Gateways and frameworks in front of the platform send errors in other shapes. The common ones are
 * accepted as well.
 */

const word = z.union([z.string(), z.number()]).transform(String)

/** A refused field. Accepts `{ loc, msg }`, and a path that is a list, as well. */
const LooseField = z
  .looseObject({
    field: z.union([word, z.array(word)]).optional(),
    loc: z.array(word).optional(),
    message: word.optional(),
    msg: word.optional(),
    type: word.optional(),
  })
  .transform(({ field, loc, message, msg, type }): FieldError => {
    const path = field ?? loc ?? ''
    return {
      field: Array.isArray(path) ? path.join('.') : path,
      message: message ?? msg ?? 'refused',
      type: type ?? 'unknown',
    }
  })

const LooseEnvelope = z.looseObject({
  code: word.optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  error: z.string().optional().catch(undefined),
  detail: z.unknown().optional(),
  errors: z.unknown().optional(),
})

/** Maximum refused fields that are read. A reply may have 100,000. */
export const maxFieldErrors = 100

const fieldsIn = (list: unknown): FieldError[] | undefined =>
  Array.isArray(list)
    ? z.array(LooseField).safeParse(list.slice(0, maxFieldErrors)).data
    : undefined

/** Code, message and refused fields of an error reply; `undefined`: the reply has no message. */
function envelopeOf(
  json: unknown,
): Pick<Rejected, 'code' | 'message' | 'detail' | 'errors'> | undefined {
  const parsed = LooseEnvelope.safeParse(json)
  if (!parsed.success) return undefined
  const { code, message, error, detail, errors } = parsed.data
  const detailText = typeof detail === 'string' ? detail : undefined
  const fields = fieldsIn(errors) ?? fieldsIn(detail) ?? []
  const text =
    message ?? error ?? detailText ?? (fields.length > 0 ? 'Fields were refused.' : undefined)
  if (text === undefined) return undefined
  return { code: code ?? 'unknown', message: text, detail: detailText ?? null, errors: fields }
}

/** Number of items of each array in the first pass. */
const firstItems = 100

/**
 * Parses like `schema.safeParse`, but stops soon after the first problem: zod collects every
 * problem of every item, which takes half a second for 149,000 wrong items. Parses the first 100
 * items of each array, then the first 400, and so on up to the whole value. The schema must not
 * limit the number of items.
 */
export function parseEarly<T extends z.ZodType>(
  schema: T,
  value: unknown,
): z.ZodSafeParseResult<z.output<T>> {
  for (let max = firstItems; hasLongerArray(value, max); max *= 4) {
    const parsed = schema.safeParse(withShorterArrays(value, max))
    if (!parsed.success) return parsed
  }
  return schema.safeParse(value)
}

/**
 * True if an array has more than `max` items. Runs on every complete reply, so it allocates
 * nothing.
 */
function hasLongerArray(value: unknown, max: number): boolean {
  if (!isObjectOrArray(value)) return false
  if (Array.isArray(value)) {
    return value.length > max || value.some((item) => hasLongerArray(item, max))
  }
  for (const name in value) if (hasLongerArray(value[name], max)) return true
  return false
}

function withShorterArrays(value: unknown, max: number): unknown {
  if (!isObjectOrArray(value)) return value
  if (Array.isArray(value)) {
    return value.slice(0, max).map((item) => withShorterArrays(item, max))
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withShorterArrays(field, max)]),
  )
}

const isObjectOrArray = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
