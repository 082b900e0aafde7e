import { INVALID_PARAMS, type JSONRPCMessage } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { clientText, messageText } from '../../text/client-text.ts'
import type { Era } from './envelope.ts'

/** A JSON-RPC error. */
export interface ProtocolFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The code for a resource that does not exist, in the 2025 revisions. Later: invalid params. */
const legacyNotFound = -32002

/** The data by which the SDK marks such an error: nothing but the address. */
const NotFoundData = z.strictObject({ uri: z.string() })

/** The issues of a zod error. The SDK puts them into its messages as JSON text. */
const Issues = z.array(
  z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
)

/**
 * The error that a client receives. The message is one sentence, also where the SDK's is a list of
 * zod issues; texts of the client in it are cut and made safe. The code is that of the client's era.
 */
export function errorForClient(
  { code, message, data }: ProtocolFailure,
  era: Era | undefined,
): ProtocolFailure {
  const isNotFound = code === INVALID_PARAMS && NotFoundData.safeParse(data).success
  const sentence = sentenceOf(message)
  return {
    code: era === '2025' && isNotFound ? legacyNotFound : sentence ? INVALID_PARAMS : code,
    message: messageText(sentence ?? message),
    ...(data !== undefined && { data: dataForClient(data) }),
  }
}

/** The message that a client receives: with an error for clients, else unchanged. */
export function messageForClient<T extends JSONRPCMessage>(
  message: T,
  era: Era | undefined,
): T | JSONRPCMessage {
  if (!('error' in message)) return message
  return { ...message, error: errorForClient(message.error, era) }
}

/** One sentence for a message with a list of zod issues; `undefined` if there is no list in it. */
function sentenceOf(message: string): string | undefined {
  const start = message.search(/\[\s*\{/)
  if (start < 0) return undefined
  const { data: issues = [] } = Issues.safeParse(parsed(message.slice(start)))
  const [issue] = issues
  if (!issue) return undefined
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  const place = issue.path.length > 0 ? clientText(issue.path.join('.')) : 'params'
  return `${message.slice(0, start) || 'Invalid params: '}${place}: ${issue.message}${more}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The data of an error, with every text in it cut and made safe. */
function dataForClient(value: unknown): unknown {
  if (typeof value === 'string') return messageText(value)
  if (Array.isArray(value)) return value.map(dataForClient)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [clientText(key), dataForClient(one)]),
  )
}
