import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { RouteRequest } from '../contract/route.ts'
import { ApiError, type Failure } from '../platform/failure.ts'
import { maxFieldErrors } from '../platform/reply.ts'
import { withoutDrift } from '../platform/reply-drift.ts'
import { accountIn } from '../platform/sessions/account.ts'
import { restrictedSession } from '../platform/sessions/restricted-session.ts'
import type { Session } from '../platform/sessions/session.ts'
import { StateError } from '../state/state-access.ts'
import { isObject } from '../text/json.ts'
import { joinedUpTo } from '../text/labels.ts'
import { mapStrings, safeLine, safeLines } from '../text/safe-text.ts'
import { shortenToCharacters } from '../text/token-estimate.ts'
import { adviceFor } from './api-error-advice.ts'
import { UnknownChange } from './change-recorder.ts'
import { clearName } from './clear-argument.ts'
import { NotConfirmed } from './confirmation.ts'
import { didYouMean } from './references/did-you-mean.ts'
import {
  type Advice,
  type ArgumentProblem,
  type RefusalKind,
  Refused,
  stateRefusal,
} from './refused.ts'
import { resultBudget, shortenLines, shortenResult } from './results/shortening.ts'
import type { StructuredContent, Tool, ToolOutput } from './tool.ts'

export type CallResult = CallToolResult | InputRequiredResult

/** Facts for a result beyond the tool's output. */
interface ResultContext {
  readonly request: RouteRequest
  /** Account that the result names, if any. */
  readonly account: string | undefined
  /** Note that follows the tool's own note. */
  readonly note: string | undefined
  /** Dotted paths of nulls that were ignored. */
  readonly ignoredNulls: readonly string[]
}

/** Converts a tool's output to a result: data for programs, and text for a model. */
export function successResult(
  tool: Pick<Tool, 'ownOutput' | 'shortening'>,
  { structured: given, lines }: ToolOutput,
  { request, account, note, ignoredNulls }: ResultContext,
): CallToolResult {
  const promised = asPromised(tool.ownOutput(), {
    ...given,
    ...(note !== undefined && { note: [given.note, note].filter(Boolean).join(' ') }),
    ...(ignoredNulls.length > 0 && { ignored_nulls: ignoredNulls }),
  })
  const structured = account === undefined ? promised : { account_id: account, ...promised }
  if (lines === undefined) {
    const short = shortenResult(structured, { shortening: tool.shortening, request })
    return { content: [{ type: 'text', text: short.text }], structuredContent: short.structured }
  }
  const shown = [
    ...lines,
    ...(note === undefined ? [] : [note]),
    ...(ignoredNulls.length === 0 ? [] : [ignoredNullsLine(ignoredNulls)]),
  ].map(safeLine)
  const end = account === undefined ? '' : `\nAccount: ${safeLine(account)}`
  const text = `${shortenLines(shown, resultBudget)}${end}`
  return { content: [{ type: 'text', text }], structuredContent: structured }
}

/**
 * Removes platform fields that have the name of one of our fields but another type. Keeps all other
 * fields: the contract has checked the documented ones.
 */
function asPromised(schema: z.ZodObject, structured: StructuredContent): StructuredContent {
  if (schema.safeParse(structured).success) return structured
  const fitting = withoutDrift(schema, structured)
  return 'value' in fitting && isObject(fitting.value) ? fitting.value : structured
}

/**
 * Maximum number of arguments named in a result. A client that fills in every field sends many
 * nulls.
 */
const maxNamed = 10

/** Result field of tools that can clear fields: nulls that were ignored. */
export const ignoredNullsShape = {
  ignored_nulls: z
    .array(z.string())
    .optional()
    .describe(`Fields given as null, which means 'not given'; ${clearName} clears.`),
}

function ignoredNullsLine(nulls: readonly string[]): string {
  return `Ignored nulls: ${joinedUpTo(nulls, maxNamed)}. null means 'not given'; name fields in ${clearName} to clear them.`
}

/** Result field of all tools: coerced arguments. */
export const coercionsShape = {
  read_as: z
    .array(z.string())
    .optional()
    .describe('Arguments given in another form, and how they were read.'),
}

/**
 * Adds the coercions to a result. A question to a person stays unchanged: the result after the
 * answer has the coercions.
 */
export function withCoercions(result: CallResult, coercions: readonly string[]): CallResult {
  const more = coercions.length > maxNamed ? [`${coercions.length - maxNamed} more`] : []
  const named = [...coercions.slice(0, maxNamed), ...more].map(safeLine)
  const text = `Read as: ${named.join('; ')}.`
  // A task has no content yet, so its status message names the coercions.
  if (typeof result.statusMessage === 'string')
    return { ...result, statusMessage: `${result.statusMessage}; ${text}` }
  if (!isFinished(result)) return result
  const { structuredContent, content } = result
  return {
    ...result,
    content: [...content, { type: 'text', text }],
    ...(isObject(structuredContent) && {
      structuredContent: { ...structuredContent, read_as: named },
    }),
  }
}

const isFinished = (result: CallResult): result is CallToolResult => 'content' in result

/** Key in a result's `_meta` that holds an error as data, for programs. */
export const errorMetaKey = 'voice-agent-mcp/error'

export interface FailureContext {
  readonly session: Session
  readonly tools: readonly Tool[]
  /** Absent if the arguments could not be parsed. */
  readonly request: RouteRequest | undefined
  /** Called with each bug, including the stack. The caller of the tool must not see the stack. */
  readonly onBug: (error: unknown) => void
  /** Records a failure of the state store. Returns the detail that the caller may see, if any. */
  readonly stateFailed?: ((error: StateError) => string | undefined) | undefined
}

/**
 * Converts a failure to a result with `isError`. The text has cause, invalid arguments and next
 * step; `_meta` has the same as data. Rethrows ProtocolErrors.
 */
export function failedResult(
  tool: Tool,
  error: unknown,
  context: FailureContext,
): Promise<CallResult> | CallResult {
  if (error instanceof NotConfirmed) return error.result
  if (error instanceof ProtocolError) throw error
  if (error instanceof StateError)
    return refusalResult(tool, stateRefusal(error, context.stateFailed?.(error)))
  if (error instanceof Refused) return refusalResult(tool, error)
  if (error instanceof ApiError) return apiErrorResult(tool, error, context)
  context.onBug(error)
  return errorResult(tool, defect, { kind: 'internal' })
}

/**
 * Advice for a bug in this server. It must not read like a failure of the network or the platform.
 */
const defect: Advice = {
  what: 'a defect in voice-agent-mcp itself, neither the network nor the platform',
  fields: [],
  next: 'Trying again will not help. Please report it; the log has the details.',
  retryable: false,
}

/** Result of a tool call that the tool's steps refused. */
function refusalResult(tool: Tool, { kind, advice, facts }: Refused): CallToolResult {
  const { next = `Correct them and call ${tool.name} again.` } = advice
  return errorResult(tool, { ...advice, next }, { ...facts, kind })
}

/** Result of a tool call whose request to the platform failed. */
async function apiErrorResult(
  tool: Tool,
  error: ApiError,
  { session, tools, request }: FailureContext,
): Promise<CallToolResult> {
  const { failure, method, path, attempts } = error
  const { advice: row, ...advice } = adviceFor(error, {
    tool,
    session,
    accountId: request ? accountIn(request) : (session.pinnedAccount ?? 'me'),
    check: listToolFor(tool, tools),
    isExposed: (name) => tools.some((one) => one.name === name),
    hints: request ? await didYouMean(error, request, restrictedSession(session, tools)) : {},
  })
  // The text of the result already has `excerpt` and `errors`, shortened.
  const { excerpt: _, errors: __, ...facts } = { excerpt: '', errors: [], ...failure }
  const undo = error instanceof UnknownChange && error.undo
  const next = undo
    ? `${advice.next} It may have been done: ${tool.name} with undo ${undo} takes it back.`
    : advice.next
  return errorResult(
    tool,
    { ...advice, next },
    { ...facts, advice: row, method, path, attempts, ...(undo && { undo }) },
    (text) => shortenToCharacters(text, 30_000),
  )
}

/** The list tool that shows whether a creating tool created something: a GET of the same path. */
function listToolFor(tool: Tool, tools: readonly Tool[]): string | undefined {
  const { path } = tool.route
  return tools.find(({ route }) => route.method === 'GET' && route.path === path)?.name
}

/** Facts about an error, for programs. */
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
  const shown = fields.slice(0, maxFields).map(shortField)
  const more = fields.length - shown.length
  const lines = [
    `${tool.name} failed: ${shortenToCharacters(what, 25_000)}${/[.!?]$/.test(what) ? '' : '.'}`,
    ...shown.map(({ argument, message }) => `- ${argument}: ${message}`),
    more > 0 && (fields.length < maxFieldErrors ? `- and ${more} more` : '- and more'),
    next !== '' && `Next: ${next}`,
    Boolean(facts.requestId) && `Request id: ${facts.requestId}`,
  ]
  const text = shorten(safeLines(lines.filter((line) => typeof line === 'string')))
  const error = { ...facts, tool: tool.name, fields: shown, next, retryable }
  return {
    content: [{ type: 'text', text }],
    // The error is not in structuredContent, because clients validate structuredContent against the
    // output schema even for errors.
    _meta: { [errorMetaKey]: mapStrings(error, shorten) },
    isError: true,
  }
}

/** Maximum number of arguments named in one error. */
const maxFields = 20

const shortField = <T extends ArgumentProblem>(field: T): T => ({
  ...field,
  argument: shortenToCharacters(field.argument, 100),
  message: shortenToCharacters(field.message, 1000),
})
