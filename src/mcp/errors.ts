import {
  INVALID_PARAMS,
  type JSONRPCMessage,
  ProtocolError,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { ApiError, type Failure, failureText } from '../platform/failure.ts'
import type { Session } from '../platform/sessions/session.ts'
import { jsonIn } from '../text/json.ts'
import { clientText, mapStrings, messageText } from '../text/safe-text.ts'
import type { Protocol } from './messages.ts'

interface ProtocolFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The code for an unknown resource in the 2025 revisions. Later revisions use "invalid params". */
const legacyNotFound = -32002

/**
 * `data` of the SDK's error for an unknown resource. Its code alone, "invalid params", is also used
 * for other errors.
 */
const NotFoundData = z.strictObject({ uri: z.string() })

/** Issues of a zod error. The SDK appends them to messages as JSON text. */
const Issues = z.array(
  z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
)

/**
 * Rewrites an error for a client. The message is one sentence, even if the SDK's is a list of zod
 * issues; client text in it is truncated and escaped. The code is that of the client's revision.
 */
export function errorForClient(
  { code, message, data }: ProtocolFailure,
  protocol: Protocol | undefined,
): ProtocolFailure {
  const isNotFound = code === INVALID_PARAMS && NotFoundData.safeParse(data).success
  const sentence = sentenceOf(message)
  return {
    code: protocol === '2025' && isNotFound ? legacyNotFound : sentence ? INVALID_PARAMS : code,
    message: messageText(sentence ?? message),
    ...(data !== undefined && { data: mapStrings(data, messageText) }),
  }
}

/** The message with its error rewritten for clients; other messages are unchanged. */
export function messageForClient<T extends JSONRPCMessage>(
  message: T,
  protocol: Protocol | undefined,
): T | JSONRPCMessage {
  if (!('error' in message)) return message
  return { ...message, error: errorForClient(message.error, protocol) }
}

/**
 * The first of the zod issues in a message of the SDK, as a sentence. `undefined` if the message
 * has no issues.
 */
function sentenceOf(message: string): string | undefined {
  const start = message.search(/\[\s*\{/)
  if (start < 0) return undefined
  const { data: issues = [] } = Issues.safeParse(jsonIn(message.slice(start)))
  const [issue] = issues
  if (!issue) return undefined
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  const place = issue.path.length > 0 ? clientText(issue.path.join('.')) : 'params'
  return `${message.slice(0, start) || 'Invalid params: '}${place}: ${issue.message}${more}`
}

interface ErrorContext {
  readonly session: Pick<Session, 'redact'>
  /** Called with every unexpected error, which is a bug of this program. */
  readonly onBug: (error: unknown) => void
}

/**
 * Runs a read of the platform. Throws only ProtocolError: ResourceNotFoundError for a 404, an error
 * with the reason for every other ApiError, and `defectError` for a bug. `what`: the resource URI,
 * or its description.
 */
export async function withProtocolErrors<T>(
  what: string,
  context: ErrorContext,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof ApiError) throw readError(what, error.failure, context)
    context.onBug(error)
    throw defectError(what)
  }
}

/** Error for a bug. Only the log has the details of the bug. */
export const defectError = (what: string) =>
  new ProtocolError(-32603, `${what}: a defect in voice-agent-mcp; its log has the details.`)

function readError(what: string, failure: Failure, { session }: ErrorContext): ProtocolError {
  const status = failure.kind === 'rejected' ? failure.status : undefined
  if (failure.kind === 'bad_parameter' || status === 404) return notFound(what, session)
  const uri = shownAddress(what, session)
  return new ProtocolError(
    status === 422 ? -32602 : -32603,
    session.redact(`${uri} could not be read (${failureText(failure)}).`),
    { uri },
  )
}

export const notFound = (what: string, session: ErrorContext['session']): ResourceNotFoundError =>
  new ResourceNotFoundError(shownAddress(what, session))

/**
 * Maximum length of a URI in an error, characters. Longer URIs, which clients may send, are
 * truncated.
 */
const longestAddress = 900

const shownAddress = (address: string, { redact }: ErrorContext['session']) =>
  clientText(address, longestAddress, redact.start)

/**
 * Parses a cursor of this server, which is a decimal offset; 0 without a cursor. Throws
 * ProtocolError.
 */
export function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw unknownCursor()
}

export const unknownCursor = () =>
  new ProtocolError(-32602, 'The cursor is not one that this server gave: list again without it.')

/** Refuses a cursor for one-page lists, which never return one. Throws ProtocolError. */
export function refuseCursor(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor !== undefined) throw unknownCursor()
}
