import { INVALID_PARAMS, type JSONRPCMessage } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { clientText, messageText } from '../../text/client-text.ts'

/** A JSON-RPC error. */
export interface ProtocolFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Code of a resource that does not exist in the 2025 revisions; later ones use invalid params. */
const legacyNotFound = -32002

/** How the SDK marks that: nothing but the address. */
const NotFound = z.strictObject({ uri: z.string() })

/** What zod makes of values that do not fit, which the SDK passes on as text. */
const Issues = z.array(
  z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
)

/**
 * An error as a client is told it: what does not fit a schema in one sentence in place of a dump,
 * no text of the client raw or at length, and the code that the client's revision has.
 */
export function errorForClient(
  { code, message, data }: ProtocolFailure,
  era: 'modern' | '2025' | undefined,
): ProtocolFailure {
  const isNotFound = code === INVALID_PARAMS && NotFound.safeParse(data).success
  const dumped = shortened(message)
  return {
    code:
      era === '2025' && isNotFound ? legacyNotFound : dumped === undefined ? code : INVALID_PARAMS,
    message: messageText(dumped ?? message),
    ...(data !== undefined && { data: dataForClient(data) }),
  }
}

/** The same within a message that is sent; every other message stays as it is. */
export function messageForClient<T extends JSONRPCMessage>(
  message: T,
  era: 'modern' | '2025' | undefined,
): T | JSONRPCMessage {
  if (!('error' in message)) return message
  return { ...message, error: errorForClient(message.error, era) }
}

/** A dump of zod's issues as one sentence; `undefined` where the text holds none. */
function shortened(message: string): string | undefined {
  const at = message.search(/\[\s*\{/)
  if (at < 0) return undefined
  const { data: issues = [] } = Issues.safeParse(parsed(message.slice(at)))
  const [issue] = issues
  if (!issue) return undefined
  const { path, message: said } = issue
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  const place = path.length > 0 ? clientText(path.join('.')) : 'params'
  return `${message.slice(0, at) || 'Invalid params: '}${place}: ${said}${more}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Texts anywhere within the data of an error. */
function dataForClient(value: unknown): unknown {
  if (typeof value === 'string') return messageText(value)
  if (Array.isArray(value)) return value.map(dataForClient)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [clientText(key), dataForClient(one)]),
  )
}
