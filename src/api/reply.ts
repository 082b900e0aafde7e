import * as z from 'zod'
import { ErrorEnvelope } from '../contract/error.ts'
import type { Route } from '../contract/route.ts'
import type { Failure, UnreadableReason } from './failure.ts'
import type { WireReply } from './send.ts'

/** Largest reply read, bytes. */
export const maxReplyBytes = 10 * 1024 * 1024

/** A reply as data, or why it is none. */
export type Outcome = { ok: true; value: unknown } | { ok: false; failure: Failure }

/** Reads a reply against its route: the parsed value, the platform's refusal, or what is wrong. */
export function readReply(route: Route, reply: WireReply): Outcome {
  if (reply.status >= 200 && reply.status < 300) return readSuccess(route, reply)
  const json = parseJson(reply.body)
  const envelope = ErrorEnvelope.safeParse(json)
  if (!envelope.success) {
    return { ok: false, failure: unreadable(reply, reasonOf(reply.body, json)) }
  }
  const { code, message, detail, errors } = envelope.data
  return {
    ok: false,
    failure: {
      kind: 'rejected',
      status: reply.status,
      code,
      message,
      detail: detail ?? null,
      errors: errors ?? [],
      ...common(reply),
    },
  }
}

function readSuccess(route: Route, reply: WireReply): Outcome {
  // An acknowledgement may come with any body or none: its status says all there is [R].
  if (!route.reply) return { ok: true, value: undefined }
  const json = parseJson(reply.body)
  if (json === undefined) {
    return { ok: false, failure: unreadable(reply, reasonOf(reply.body, json)) }
  }
  const parsed = route.reply.safeParse(json)
  if (parsed.success) return { ok: true, value: parsed.data }
  return {
    ok: false,
    failure: unreadable(reply, 'unexpected_shape', z.prettifyError(parsed.error)),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
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
    ...common(reply),
  }
}

function common(reply: WireReply) {
  return {
    requestId: reply.header('x-request-id') ?? null,
    retryAfter: retryAfterSeconds(reply.header('retry-after')),
  }
}

/** `Retry-After` in seconds: a number, or an HTTP date (RFC 9110 §10.2.3). */
function retryAfterSeconds(value: string | undefined, now = Date.now()): number | null {
  if (value === undefined) return null
  if (/^\s*\d+\s*$/.test(value)) return Number(value)
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000))
}
