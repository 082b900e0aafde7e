import type * as z from 'zod'
import { ErrorEnvelope } from '../contract/error.ts'
import type { Route } from '../contract/route.ts'
import { boundExceededByText, type JsonBound } from '../json/bounds.ts'
import { parseEarly } from '../json/parse-early.ts'
import { envelopeOf } from './envelope.ts'
import type { Failure, UnreadableReason } from './failure.ts'
import type { WireReply } from './send.ts'

/** Largest reply read, bytes. */
export const maxReplyBytes = 10 * 1024 * 1024

/**
 * Largest reply that is parsed. A hundred conversations of a hundred messages each have 41,000 values,
 * and no documented reply is nested deeper than ten. A reply at these bounds is read in about 0.2 s;
 * without them, one of 10 MiB takes up to 18 s, or all memory.
 */
const replyBounds = { depth: 500, values: 300_000 }

const excesses: Readonly<Record<JsonBound, readonly [UnreadableReason, string]>> = {
  depth: ['unexpected_shape', `nested more than ${replyBounds.depth} deep`],
  values: ['too_large', `more than ${replyBounds.values} values`],
}

/** A reply as data, or why it cannot be read. */
export type Outcome = { ok: true; value: unknown } | { ok: false; failure: Failure }

/** Reads a reply against its route: the parsed value, the platform's refusal, or what is wrong. */
export function readReply(route: Route, reply: WireReply): Outcome {
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

function readSuccess(route: Route, reply: WireReply): Outcome {
  const json = parseJson(reply.body)
  // An HTML page of a proxy, or an error in spite of its status.
  const isPage = json === undefined && reasonOf(reply.body, json) === 'html'
  if (isPage || isError(json)) {
    return { ok: false, failure: unreadable(reply, isPage ? 'html' : 'unexpected_shape') }
  }
  // Otherwise an acknowledgement may come with any body or none [R].
  if (!route.reply) return { ok: true, value: undefined }
  if (json === undefined) {
    return { ok: false, failure: unreadable(reply, reasonOf(reply.body, json)) }
  }
  const parsed = parseEarly(route.reply, json)
  if (parsed.success) return { ok: true, value: parsed.data }
  const failure = unreadable(reply, 'unexpected_shape', firstIssues(parsed.error))
  return { ok: false, failure }
}

/** Whether it is an error envelope. Nearly no reply is, so a cheap check comes before the parse. */
const isError = (json: unknown): boolean =>
  typeof json === 'object' &&
  json !== null &&
  'code' in json &&
  parseEarly(ErrorEnvelope, json).success

/** The first few problems. How many there are in all is not known: parsing stopped early. */
function firstIssues({ issues }: z.ZodError): string {
  const shown = issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`)
  return [...shown, ...(issues.length > shown.length ? ['and more'] : [])].join('; ')
}

function parseJson(text: string): unknown {
  try {
    // JSON must not begin with a byte order mark (RFC 8259 §8.1), but some servers send one.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}

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

/** What every failed reply has in its headers. */
export function failureHeaders(reply: Pick<WireReply, 'header'>) {
  return {
    requestId: reply.header('x-request-id') ?? null,
    retryAfter: retryAfterSeconds(reply.header('retry-after')),
  }
}

/** `Retry-After` in seconds: digits, or an HTTP date (RFC 9110 §10.2.3); anything else is ignored. */
function retryAfterSeconds(value: string | undefined, now = Date.now()): number | null {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const date = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000))
}
