import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  isSpecType,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PARSE_ERROR,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { boundExceededByText, isObject, type JsonBounds, jsonIn } from '../text/json.ts'
import { clientText } from '../text/safe-text.ts'
import { errorForClient } from './errors.ts'
import { errorResponse, metaKeys, modernVersion, RequestId } from './messages.ts'

/*
 * Parses and checks client input, from text to JSON-RPC 2.0 message. Accepts the same messages as
 * the MCP SDK. The SDK does not answer invalid messages over stdio, and explains little over HTTP.
 */

/** Maximum nesting depth and number of values of a message. They bound the time to parse it. */
const bounds: JsonBounds = { depth: 200, values: 100_000 }

/** Parsed JSON, or the error response that refuses the text. */
type ParsedText =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly answer: JSONRPCErrorResponse }

/** Parses a message or batch. `what` names the text in the error, such as `A line`. */
export function parseMessage(text: string, what: string): ParsedText {
  const excess = boundExceededByText(text, bounds)
  if (excess) {
    return { ok: false, answer: anonymousError(INVALID_REQUEST, `${what} ${tooMuch[excess]}.`) }
  }
  const value = jsonIn(text)
  return value === undefined
    ? { ok: false, answer: anonymousError(PARSE_ERROR, `${what} is not JSON.`) }
    : (lostArgumentAnswer(value) ?? { ok: true, value })
}

/**
 * Refuses a tool call with an argument named `__proto__`, which the MCP SDK would silently drop. In
 * nested objects, tool/arguments.ts refuses the name.
 */
function lostArgumentAnswer(value: unknown): ParsedText | undefined {
  const isLost = Array.isArray(value) ? value.some(losesArgument) : losesArgument(value)
  if (!isLost) return undefined
  const id = isObject(value) ? echoed(value.id) : null
  const message =
    'params.arguments holds the name __proto__, which cannot be passed on. Nothing was done.'
  return { ok: false, answer: errorResponse(id, { code: INVALID_PARAMS, message }) }
}

function losesArgument(message: unknown): boolean {
  const params = isObject(message) ? message.params : undefined
  const given = isObject(params) ? params.arguments : undefined
  return isObject(given) && Object.hasOwn(given, '__proto__')
}

const tooMuch = {
  depth: `is nested more than ${bounds.depth} deep`,
  values: `holds more than ${bounds.values} values`,
}

/** The only revision that has JSON-RPC batches. */
export const batchRevision = '2025-03-26'

export const maxBatchSize = 100

/** The error response to an invalid batch; `undefined`: it is valid. */
export function batchError(
  messages: readonly unknown[],
  revision: string | undefined,
): JSONRPCErrorResponse | undefined {
  const refuse = (message: string) => anonymousError(INVALID_REQUEST, message)
  if (revision !== batchRevision) {
    return refuse(`Batches are only allowed in revision ${batchRevision}.`)
  }
  if (messages.length === 0) return refuse('A batch must not be empty.')
  if (messages.length > maxBatchSize) {
    return refuse(`A batch must not exceed ${maxBatchSize} messages.`)
  }
  return undefined
}

/** Error response with `id: null`, for messages whose id is unknown or unreadable. */
export const anonymousError = (code: number, message: string): JSONRPCErrorResponse =>
  errorResponse(null, { code, message })

type CheckedMessage =
  | { readonly ok: true; readonly message: JSONRPCMessage }
  /** `answer` is absent for a malformed response: JSON-RPC does not answer responses. */
  | { readonly ok: false; readonly answer?: JSONRPCErrorResponse; readonly reason: string }

/** Checks one parsed value that is not a batch. */
export function checkMessage(value: unknown): CheckedMessage {
  if (isSpecType.JSONRPCMessage(value)) return { ok: true, message: value }
  if (!isObject(value)) {
    return refused(null, INVALID_REQUEST, 'A message must be a JSON object.')
  }
  const isResponse = !('method' in value) && ('result' in value || 'error' in value)
  if (isResponse) return { ok: false, reason: 'A response is malformed.' }
  const fault = memberFault(value)
  const id = echoed(value.id)
  return fault === undefined
    ? refused(id, INVALID_PARAMS, metaFault(value.params))
    : refused(id, INVALID_REQUEST, fault)
}

export const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message

/**
 * Returns the error response to a request that must not be in a batch, or that names an unsupported
 * revision. The MCP SDK checks the revision of every HTTP request, but over stdio only of the first
 * request.
 */
export function requestError(
  { id, method, params }: JSONRPCRequest,
  { isBatch }: { readonly isBatch: boolean },
): JSONRPCErrorResponse | undefined {
  if (method === 'initialize') {
    // initialize negotiates its own revision.
    const message = 'initialize must not be part of a batch.'
    return isBatch ? errorResponse(id, { code: INVALID_REQUEST, message }) : undefined
  }
  const requested = params?._meta?.[metaKeys.protocolVersion]
  // The SDK answers a value that is not a string.
  if (typeof requested !== 'string' || requested === modernVersion) return undefined
  const supported = [modernVersion]
  const { code, message, data } = new UnsupportedProtocolVersionError({ supported, requested })
  return errorResponse(id, errorForClient({ code, message, data }, undefined))
}

const refused = (id: RequestId | null, code: number, message: string): CheckedMessage => ({
  ok: false,
  answer: errorResponse(id, { code, message }),
  reason: message,
})

const members = ['jsonrpc', 'id', 'method', 'params']

const isRequestId = (value: unknown) => RequestId.safeParse(value).success

/** The fault in the members of a request or notification; `undefined`: they are valid. */
function memberFault(message: Readonly<Record<string, unknown>>): string | undefined {
  const { jsonrpc, id, method, params } = message
  if (jsonrpc !== '2.0') return 'jsonrpc must be "2.0".'
  if (typeof method !== 'string') return 'method must be a string.'
  if ('id' in message && !isRequestId(id)) {
    return 'id must be a string or an integer of at most 2^53 - 1. A notification has no id.'
  }
  if ('params' in message && !isObject(params)) return 'params must be an object, or left out.'
  const extra = Object.keys(message).find((key) => !members.includes(key))
  if (extra !== undefined) {
    return `A message has no member "${clientText(extra)}": only ${members.join(', ')}.`
  }
  return undefined
}

/** The fault in `_meta`, which has the same form for every method. */
function metaFault(params: unknown): string {
  const { _meta: meta } = isObject(params) ? params : {}
  if (!isObject(meta)) return 'params._meta must be an object, or left out.'
  return 'progressToken' in meta && !isRequestId(meta.progressToken)
    ? 'params._meta.progressToken must be a string or an integer of at most 2^53 - 1.'
    : 'params._meta holds a reserved key with a value of the wrong form.'
}

/**
 * The id for an error response; null for an invalid id, and for numbers beyond 2^53 − 1, which may
 * have lost digits in parsing.
 */
function echoed(id: unknown): RequestId | null {
  if (typeof id === 'string') return id
  return typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER ? id : null
}
