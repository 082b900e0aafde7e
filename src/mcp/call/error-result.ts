import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ApiError, Failure } from '../../api/failure.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { accountIn } from '../../session/account.ts'
import { restrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import { mapStrings } from '../../text/map-strings.ts'
import { safeLines } from '../../text/safe-text.ts'
import { shortenToCharacters } from '../../text/shorten.ts'
import { didYouMean } from '../hints/did-you-mean.ts'
import { type Advice, type ArgumentProblem, adviceFor } from './advice.ts'
import type { RefusalKind, Refused } from './refused.ts'
import type { Tool } from './tool.ts'

/*
 * What a failed call answers: a result with `isError` whose text says what happened, which argument
 * is wrong and what to do next, and which holds the same as data in `_meta`.
 */

/** Key in a result's `_meta` under which programs find an error as data. */
export const errorMetaKey = 'voice-agent-mcp/error'

export const badArgumentsResult = (
  tool: Tool,
  problems: readonly ArgumentProblem[],
): CallToolResult =>
  errorResult(
    tool,
    {
      what: 'the arguments are not valid; nothing was sent',
      fields: problems,
      next: `Correct them and call ${tool.name} again.`,
      retryable: false,
    },
    { kind: 'bad_arguments' },
  )

/** The steps of a tool refused to go on. */
export function refusalResult(tool: Tool, { kind, advice, facts }: Refused): CallToolResult {
  const { next = `Correct them and call ${tool.name} again.` } = advice
  return errorResult(tool, { ...advice, next }, { ...facts, kind })
}

/** The request to the platform failed. */
export async function failureResult(
  tool: Tool,
  error: ApiError,
  context: { session: Session; tools: readonly Tool[]; request: RouteRequest | undefined },
): Promise<CallToolResult> {
  const { session, tools, request } = context
  const { failure, method, path, attempts } = error
  const { advice: row, ...advice } = adviceFor(error, {
    tool,
    session,
    account: accountPhrase(request, session),
    check: listToolFor(tool, tools),
    isExposed: (name) => tools.some((one) => one.name === name),
    hints: request ? await didYouMean(error, request, restrictedSession(session, tools)) : {},
  })
  // The text has these already, shortened.
  const { excerpt: _, errors: __, ...facts } = { excerpt: '', errors: [], ...failure }
  return errorResult(tool, advice, { ...facts, advice: row, method, path, attempts }, (text) =>
    shortenToCharacters(text, 30_000),
  )
}

/** A defect of this program, which must not read as a failure of the network or the platform. */
export const defectResult = (tool: Tool): CallToolResult =>
  errorResult(
    tool,
    {
      what: 'a defect in voice-agent-mcp itself, neither the network nor the platform',
      fields: [],
      next: 'Trying again will not help. Please report it; the log has the details.',
      retryable: false,
    },
    { kind: 'internal' },
  )

function accountPhrase(request: RouteRequest | undefined, { pinnedAccount }: Session): string {
  const id = request ? accountIn(request) : (pinnedAccount ?? 'me')
  return id === 'me' ? "the API key's own account" : `account ${id}`
}

/** The list that shows what a creating tool created: a GET of the same path. */
function listToolFor(tool: Tool, tools: readonly Tool[]): string | undefined {
  const { path } = tool.route
  return tools.find(({ route }) => route.method === 'GET' && route.path === path)?.name
}

/** What is known about an error, for programs. */
interface ErrorFacts {
  readonly kind: Failure['kind'] | RefusalKind | 'internal'
  readonly requestId?: string | null
  readonly [fact: string]: unknown
}

function errorResult(
  tool: Tool,
  { what, fields, next, retryable }: Advice,
  facts: ErrorFacts,
  shorten: (text: string) => string = (text) => text,
): CallToolResult {
  const shown = fields.slice(0, mostFields).map(shortField)
  const more = fields.length - shown.length
  const lines = [
    `${tool.name} failed: ${shortenToCharacters(what, 25_000)}${/[.!?]$/.test(what) ? '' : '.'}`,
    ...shown.map(({ argument, message }) => `- ${argument}: ${message}`),
    more > 0 && `- and ${more} more`,
    next !== '' && `Next: ${next}`,
    Boolean(facts.requestId) && `Request id: ${facts.requestId}`,
  ]
  const text = shorten(safeLines(lines.filter((line) => typeof line === 'string')))
  const error = { ...facts, tool: tool.name, fields: shown, next, retryable }
  return {
    content: [{ type: 'text', text }],
    // Not structuredContent: clients check that against the output schema, also of errors.
    _meta: { [errorMetaKey]: mapStrings(error, shorten) },
    isError: true,
  }
}

/** The most arguments named in one error: more are no help, and fill the model's context. */
const mostFields = 20

const shortField = <T extends ArgumentProblem>(field: T): T => ({
  ...field,
  argument: shortenToCharacters(field.argument, 100),
  message: shortenToCharacters(field.message, 1000),
})
