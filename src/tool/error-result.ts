import type { CallToolResult } from '@modelcontextprotocol/server'
import type { RouteRequest } from '../contract/route.ts'
import type { ApiError, Failure } from '../platform/failure.ts'
import { mostFieldErrors } from '../platform/reply.ts'
import { accountIn } from '../platform/sessions/account.ts'
import { restrictedSession } from '../platform/sessions/restricted-session.ts'
import type { Session } from '../platform/sessions/session.ts'
import { mapStrings, safeLines } from '../text/safe-text.ts'
import { shortenToCharacters } from '../text/tokens.ts'
import type { AdviceRow, FailedCall } from './advice-row.ts'
import { adviceRows } from './advice-rows.ts'
import { didYouMean } from './hints/did-you-mean.ts'
import type { Advice, ArgumentProblem, RefusalKind, Refused } from './refused.ts'
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
    more > 0 && (fields.length < mostFieldErrors ? `- and ${more} more` : '- and more'),
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

/** Advice, and the id of its row, which programs recognise the failure by. */
interface NamedAdvice extends Advice {
  readonly advice: string
}

/** The advice for a failed request: the only place where a tool's API failures become texts. */
export function adviceFor(error: ApiError, call: FailedCall): NamedAdvice {
  const { failure } = error
  const row = adviceRows.find(({ when }) => when(failure, call))
  // The last row matches everything.
  if (!row) throw new Error(`No advice for ${failure.kind}`)
  const fields = fieldsOf(failure, call)
  return {
    advice: row.id,
    what: row.what(failure, call),
    fields,
    ...nextOf(row, error, call),
  }
}

/** The wrong arguments, by the names they have in the tool, and what may have been meant. */
function fieldsOf(failure: Failure, { hints, tool, session }: FailedCall): Advice['fields'] {
  if (failure.kind === 'bad_parameter') {
    return [{ argument: failure.name, message: `"${failure.value}" is not an id` }]
  }
  const reported = failure.kind === 'rejected' ? failure.errors : []
  const fields = reported.map(({ field, message, type }) => {
    const argument = argumentOf(field, tool.name)
    const hint = Object.hasOwn(hints, argument) ? hints[argument] : undefined
    return { argument, message: hint ? `${message} ${hint}` : message, type }
  })
  const unreported = Object.entries(withoutPinned(hints, session)).filter(
    ([argument]) => !fields.some((field) => field.argument === argument),
  )
  return [...fields, ...unreported.map(([argument, message]) => ({ argument, message }))]
}

/** A pinned account is not an argument, so it is not reported as one. */
function withoutPinned({ account_id, ...hints }: FailedCall['hints'], { pinnedAccount }: Session) {
  return account_id === undefined || pinnedAccount !== undefined ? hints : { account_id, ...hints }
}

/** The platform's `body.voice.speed` or `query.page` as the tool's own argument. */
function argumentOf(field: string, tool: string): string {
  const argument = field.replace(/^(body|query|path)\./, '')
  return tool === 'get_conversation' && argument === 'conversation_id' ? 'id' : argument
}

/**
 * What to do. The row's own text applies where repeating is harmless: reading, writing the same
 * values, removing the same thing, or when nothing was sent. Creating and calling are not repeated
 * before a look at what is there.
 */
function nextOf(
  row: AdviceRow,
  { failure, method, effect }: ApiError,
  call: FailedCall,
): Pick<Advice, 'next' | 'retryable'> {
  const next = row.next(failure, call)
  if (row.again !== 'if harmless') return { next, retryable: row.again === 'yes' }
  const maybeSent = !('maybeSent' in failure) || failure.maybeSent
  const isRepeatable = effect === 'reads' || method === 'PATCH' || method === 'DELETE'
  if (isRepeatable || !maybeSent) {
    return { next: `${maybeSent ? '' : 'Nothing was sent. '}${next}`.trim(), retryable: true }
  }
  const { tool, check } = call
  const succeeded = 'status' in failure && failure.status >= 200 && failure.status < 300
  const state = succeeded
    ? 'Its status says that it was done.'
    : 'It may have been done nevertheless.'
  const look = check ? ` Look with ${check} before you call ${tool.name} again.` : ''
  return { next: `${state}${look}`, retryable: false }
}
