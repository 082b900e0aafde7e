import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import { ApiError, type Failure } from '../../api/failure.ts'
import { withTimeLimit } from '../../api/time-limit.ts'
import { requestMs } from '../../calls/find-out.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { accountIn, resultAccount } from '../../session/account.ts'
import { restrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import { safeLine, safeLines } from '../../text/safe-text.ts'
import { boundedLines } from '../../views/bounded.ts'
import { resultBudget, shortened } from '../../views/fit.ts'
import { withAgentIds } from '../hints/agent-names.ts'
import { didYouMean } from '../hints/did-you-mean.ts'
import { whyEmpty } from '../hints/why-empty.ts'
import { type Advice, adviceFor } from './advice.ts'
import { parseArguments } from './arguments.ts'
import { type Confirm, type ConfirmedCall, NotConfirmed } from './confirmation.ts'
import { withIgnoredNulls } from './ignored-nulls.ts'
import { type RefusalKind, Refused } from './refused.ts'
import { createTaskResult } from './task.ts'
import type { Run, Tool, ToolOutcome } from './tool.ts'

/** Key in a result's `_meta` under which programs find an error as data. */
export const errorMetaKey = 'voice-agent-mcp/error'

export interface CallContext {
  readonly session: Session
  readonly tools: readonly Tool[]
  readonly signal?: AbortSignal
  readonly shutdown?: Run['shutdown']
  /** The longest that a bounded tool takes, ms. */
  readonly boundMs?: number
  /** Told about bugs of our own, with the stack the caller must not see. */
  readonly onBug: (error: unknown) => void
  /** Asks for confirmation of a call of this tool with these arguments. */
  readonly confirmOf: (call: Omit<ConfirmedCall, 'canAsk' | 'context'>) => Confirm
  readonly progress: Run['progress']
  readonly takesTasks: boolean
}

/**
 * One tool call, from arguments to result. Whatever goes wrong is a result with `isError` that says
 * what, which argument, and what to do next. Throws ProtocolError only, for a request that answers
 * a question which nobody asked.
 */
export function callTool(
  tool: Tool,
  given: Record<string, unknown>,
  context: CallContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal } = context
  const calling: Calling = { context, request: undefined, signal, answerBy: noEnd }
  const told = (error: unknown) => failureOf(tool, error, calling)
  const { redact } = context.session
  // The platform's replies do not hold the key; what a caller gives may, and is repeated.
  const sent = JSON.stringify(given)
  const clean = (result: Result): Result =>
    'content' in result ? (eachText(result, redact) as CallToolResult) : result
  const answer = answered(tool, given, calling).catch(told)
  return redact(sent) === sent ? answer : answer.then(clean)
}

function answered(tool: Tool, given: Record<string, unknown>, calling: Calling): Promise<Result> {
  if (!tool.isBounded) return carryOut(tool, given, calling)
  const { boundMs = requestMs, signal: caller } = calling.context
  // One deadline for all requests of the call, from the first on.
  calling.answerBy = performance.now() + boundMs - graceMs
  return withTimeLimit(boundMs, caller, (signal) => {
    calling.signal = signal
    return carryOut(tool, given, calling)
  })
}

/** What went wrong, as a result. */
function failureOf(
  tool: Tool,
  error: unknown,
  { context, request }: Calling,
): Promise<CallToolResult> | CallToolResult | InputRequiredResult {
  if (error instanceof NotConfirmed) return error.result
  if (error instanceof ProtocolError) throw error
  if (error instanceof Refused) return refusal(tool, error)
  if (!(error instanceof ApiError)) return bug(tool, error, context)
  return apiFailure(tool, error, { ...context, request })
}

type Result = CallToolResult | InputRequiredResult

/** How much earlier the steps of a tool end by themselves, because they can tell more, ms. */
const graceMs = 500

const noEnd = Number.POSITIVE_INFINITY

/** A call under way. */
interface Calling {
  readonly context: CallContext
  /** Fires when the caller gives up, or the time is up. */
  signal: AbortSignal | undefined
  answerBy: number
  /** As far as its arguments could be read. */
  request: RouteRequest | undefined
}

async function carryOut(
  tool: Tool,
  given: Record<string, unknown>,
  calling: Calling,
): Promise<CallToolResult | InputRequiredResult> {
  const { context, signal, answerBy } = calling
  const { session, shutdown } = context
  const restricted = restrictedSession(session, context.tools)
  const parsed = parseArguments(tool, given, session.pinnedAccount)
  if (!parsed.ok) return badArguments(tool, parsed.problems)
  const named = await withAgentIds(parsed.request, restricted, signal)
  if (!named.ok) return badArguments(tool, [named.problem])
  const { request } = named
  calling.request = request
  const { confirm_token: token, ...options } = parsed.options
  const outcome = await tool.run({
    request,
    body: request.body as Run['body'],
    cleared: parsed.cleared,
    options,
    session,
    restricted,
    signal,
    shutdown,
    answerBy,
    confirm: context.confirmOf({
      tool: tool.name,
      bound: [request, options, session.owner],
      token: typeof token === 'string' ? token : undefined,
      redact: session.redact,
    }),
    progress: context.progress,
    takesTasks: context.takesTasks,
  })
  if (outcome.task) return createTaskResult(outcome.task)
  const asked = { route: tool.route, request, unknown: named.unknown }
  const reason = await whyEmpty(outcome.structured, asked, restricted)
  const told = withIgnoredNulls(withNote(outcome, reason), parsed.ignoredNulls)
  return succeeded(tool, told, {
    session,
    request,
    account: await resultAccount(tool.route, request, session),
  })
}

function withNote(outcome: ToolOutcome, note: string | undefined): ToolOutcome {
  if (note === undefined) return outcome
  const notes = [outcome.structured.note, note].filter(Boolean).join(' ')
  return { ...outcome, structured: { ...outcome.structured, note: notes } }
}

interface Given {
  readonly session: Session
  readonly request: RouteRequest
  readonly account: string | undefined
}

/** The data for programs, and its text for a model. What both say of the account comes from here. */
function succeeded(tool: Tool, outcome: ToolOutcome, { request, account }: Given): CallToolResult {
  const named =
    account === undefined ? outcome.structured : { account_id: account, ...outcome.structured }
  const fitted =
    outcome.lines === undefined
      ? shortened(named, { cut: tool.cut, request })
      : {
          structured: named,
          text: withAccount(boundedLines(outcome.lines.map(safeLine), resultBudget), account),
        }
  return {
    content: [{ type: 'text', text: fitted.text }],
    structuredContent: fitted.structured,
  }
}

const withAccount = (text: string, account: string | undefined) =>
  account === undefined ? text : `${text}\nAccount: ${safeLine(account)}`

function badArguments(
  tool: Tool,
  problems: readonly { argument: string; message: string }[],
): CallToolResult {
  return failed(
    tool,
    {
      what: 'the arguments are not valid; nothing was sent',
      fields: problems,
      next: `Correct them and call ${tool.name} again.`,
      retryable: false,
    },
    { kind: 'bad_arguments' },
  )
}

/** The steps of a tool would not go on. */
function refusal(tool: Tool, { kind, advice }: Refused): CallToolResult {
  const { next = `Correct them and call ${tool.name} again.` } = advice
  return failed(tool, { ...advice, next }, { kind })
}

async function apiFailure(
  tool: Tool,
  error: ApiError,
  { session, tools, request }: CallContext & { request: RouteRequest | undefined },
): Promise<CallToolResult> {
  const { failure, method, path, attempts } = error
  const situation = {
    tool,
    session,
    account: accountInWords(request, session),
    check: checkFor(tool, tools),
    hints: request ? await didYouMean(error, request, restrictedSession(session, tools)) : {},
  }
  const { advice: row, ...advice } = adviceFor(error, situation)
  // What the text holds already, and at what length, is not repeated.
  const { excerpt: _, errors: __, ...facts } = { excerpt: '', errors: [], ...failure }
  return failed(tool, advice, { ...facts, advice: row, method, path, attempts }, (text) =>
    cut(text, 30_000),
  )
}

function accountInWords(request: RouteRequest | undefined, { pinnedAccount }: Session): string {
  const id = request ? accountIn(request) : (pinnedAccount ?? 'me')
  return id === 'me' ? "the API key's own account" : `account ${id}`
}

/** Our own fault must not read as the network's or the platform's. */
function bug(tool: Tool, error: unknown, { onBug }: CallContext): CallToolResult {
  onBug(error)
  return failed(
    tool,
    {
      what: 'a defect in voice-agent-mcp itself, neither the network nor the platform',
      fields: [],
      next: 'Trying again will not help. Please report it; the log has the details.',
      retryable: false,
    },
    { kind: 'internal' },
  )
}

/** What is known about a failure, for programs. */
interface ErrorFacts {
  readonly kind: Failure['kind'] | RefusalKind | 'internal'
  readonly requestId?: string | null
  readonly [fact: string]: unknown
}

function failed(
  tool: Tool,
  { what, fields, next, retryable }: Advice,
  facts: ErrorFacts,
  bounded: (text: string) => string = (text) => text,
): CallToolResult {
  const shown = fields.slice(0, mostFields).map(cutField)
  const more = fields.length - shown.length
  const lines = [
    `${tool.name} failed: ${cut(what, 25_000)}${/[.!?]$/.test(what) ? '' : '.'}`,
    ...shown.map(({ argument, message }) => `- ${argument}: ${message}`),
    more > 0 && `- and ${more} more`,
    next !== '' && `Next: ${next}`,
    Boolean(facts.requestId) && `Request id: ${facts.requestId}`,
  ]
  const error = { ...facts, tool: tool.name, fields: shown, next, retryable }
  return {
    content: [
      {
        type: 'text',
        text: bounded(safeLines(lines.filter((line) => typeof line === 'string'))),
      },
    ],
    // Not structuredContent: clients check that against the output schema, also of errors.
    _meta: { [errorMetaKey]: eachText(error, bounded) },
    isError: true,
  }
}

/** Fields told of one failure: thousands help nobody, and flood the assistant. */
const mostFields = 20

const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most)}… (${text.length - most} more characters)` : text

const cutField = <T extends { argument: string; message: string }>(field: T): T => ({
  ...field,
  argument: cut(field.argument, 100),
  message: cut(field.message, 1000),
})

/** The same data with each text in it changed, names of fields too. */
function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => eachText(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [change(name), eachText(field, change)]),
  )
}

/** The list that shows what a creating tool created: a GET of the very same path. */
function checkFor(tool: Tool, tools: readonly Tool[]): string | undefined {
  const { path } = tool.route
  return tools.find(({ route }) => route.method === 'GET' && route.path === path)?.name
}
