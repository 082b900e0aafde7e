import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  isSpecType,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server'
import { clientText } from '../../text/client-text.ts'

/*
 * What a client sent, judged as a JSON-RPC 2.0 message of the protocol. The SDK takes exactly the
 * same messages, but says nothing over stdio to those that it does not take, and little over HTTP.
 */

export type Judged =
  | { readonly ok: true; readonly message: JSONRPCMessage }
  /** `answer` is absent for what must not be answered: a response that is malformed. */
  | { readonly ok: false; readonly answer?: JSONRPCErrorResponse; readonly reason: string }

/** An error as a response; `id` is null where the request's cannot be told. */
export function errorResponse(
  id: string | number | null,
  error: JSONRPCErrorResponse['error'],
): JSONRPCErrorResponse {
  // JSON-RPC 2.0 §5 wants null, the SDK's type leaves it out.
  return { jsonrpc: '2.0', id: id as string | number, error }
}

/** Judges one value that is parsed JSON; a batch is for the transport to take apart. */
export function judge(value: unknown): Judged {
  if (isSpecType.JSONRPCMessage(value)) return { ok: true, message: value }
  if (!isObject(value)) {
    return refused(null, INVALID_REQUEST, 'A message must be a JSON object.')
  }
  const isResponse = !('method' in value) && ('result' in value || 'error' in value)
  if (isResponse) return { ok: false, reason: 'A response is malformed.' }
  const envelope = envelopeFault(value)
  const id = echoed(value.id)
  return envelope === undefined
    ? refused(id, INVALID_PARAMS, metaFault(value.params))
    : refused(id, INVALID_REQUEST, envelope)
}

const refused = (id: string | number | null, code: number, message: string): Judged => ({
  ok: false,
  answer: errorResponse(id, { code, message }),
  reason: message,
})

const members = ['jsonrpc', 'id', 'method', 'params']

/** Why a message is no request or notification; `undefined`: it is one, as far as the envelope goes. */
function envelopeFault(message: Readonly<Record<string, unknown>>): string | undefined {
  const { jsonrpc, id, method, params } = message
  if (jsonrpc !== '2.0') return 'jsonrpc must be "2.0".'
  if (typeof method !== 'string') return 'method must be a string.'
  if ('id' in message && typeof id !== 'string' && !Number.isSafeInteger(id)) {
    return 'id must be a string or an integer of at most 2^53 - 1. A notification has no id.'
  }
  if ('params' in message && !isObject(params)) return 'params must be an object, or left out.'
  const extra = Object.keys(message).find((key) => !members.includes(key))
  if (extra !== undefined) {
    return `A message has no member "${clientText(extra)}": only ${members.join(', ')}.`
  }
  return undefined
}

/** What is left that can be wrong: the part of params that means the same for every method. */
function metaFault(params: unknown): string {
  const { _meta: meta } = isObject(params) ? params : {}
  if (!isObject(meta)) return 'params._meta must be an object, or left out.'
  const { progressToken } = meta
  const isToken = typeof progressToken === 'string' || Number.isSafeInteger(progressToken)
  return 'progressToken' in meta && !isToken
    ? 'params._meta.progressToken must be a string or an integer of at most 2^53 - 1.'
    : 'params._meta holds a reserved key with a value of the wrong form.'
}

/** An id as it can be repeated. Larger numbers may have lost digits when they were read. */
function echoed(id: unknown): string | number | null {
  if (typeof id === 'string') return id
  return typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER ? id : null
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
