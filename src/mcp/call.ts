import type { CallToolResult } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { ApiError, type Failure } from '../api/failure.ts'
import { type Advice, adviceFor } from './advice.ts'
import { parseArguments } from './arguments.ts'
import type { Session } from './session.ts'
import type { Structured, Tool } from './tool.ts'

/** Key in a result's `_meta` under which programs find an error as data. */
export const errorMetaKey = 'voice-agent-mcp/error'

export interface CallContext {
  readonly session: Session
  readonly tools: readonly Tool[]
  readonly signal?: AbortSignal
  /** Told about bugs of our own, with the stack the caller must not see. */
  readonly onBug: (error: unknown) => void
}

/**
 * One tool call, from arguments to result. Never throws: whatever goes wrong is a result with
 * `isError` that says what, which argument, and what to do next.
 */
export async function callTool(
  tool: Tool,
  given: Record<string, unknown>,
  context: CallContext,
): Promise<CallToolResult> {
  try {
    const parsed = parseArguments(tool, given)
    if (!parsed.ok) return badArguments(tool, parsed.problems)
    const { client } = context.session
    const reply = await client.call(tool.route, parsed.request, context.signal)
    return succeeded(tool.present(reply, parsed.request), context.session)
  } catch (error) {
    return error instanceof ApiError ? apiFailure(tool, error, context) : bug(tool, error, context)
  }
}

/** The same data twice: for programs, and as text. A key the platform repeats is taken out. */
function succeeded(value: Structured, { redact }: Session): CallToolResult {
  const text = JSON.stringify(value)
  if (redact(text) === text) return { content: [{ type: 'text', text }], structuredContent: value }
  const structuredContent = z.record(z.string(), z.unknown()).parse(eachText(value, redact))
  return {
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structuredContent,
  }
}

function badArguments(
  tool: Tool,
  problems: { argument: string; message: string }[],
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

function apiFailure(tool: Tool, error: ApiError, { session, tools }: CallContext): CallToolResult {
  const { failure, method, path, attempts } = error
  const advice = adviceFor(error, { tool, session, check: checkFor(tool, tools) })
  // What the text holds already, and at what length, is not repeated.
  const { excerpt: _, errors: __, ...facts } = { excerpt: '', errors: [], ...failure }
  return failed(tool, advice, { ...facts, method, path, attempts }, (text) =>
    cut(session.redact(text), 30_000),
  )
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
  readonly kind: Failure['kind'] | 'bad_arguments' | 'internal'
  readonly requestId?: string | null
  readonly [fact: string]: unknown
}

function failed(
  tool: Tool,
  { what, fields, next, retryable }: Advice,
  facts: ErrorFacts,
  redact: (text: string) => string = (text) => text,
): CallToolResult {
  const shown = fields.slice(0, mostFields).map(cutField)
  const more = fields.length - shown.length
  const lines = [
    `${tool.name} failed: ${cut(what, 25_000)}${/[.!?]$/.test(what) ? '' : '.'}`,
    ...shown.map(({ argument, message }) => `- ${argument}: ${message}`),
    more > 0 && `- and ${more} more`,
    next && `Next: ${next}`,
    facts.requestId && `Request id: ${facts.requestId}`,
  ]
  const error = { ...facts, tool: tool.name, fields: shown, next, retryable }
  return {
    content: [{ type: 'text', text: redact(lines.filter(Boolean).join('\n')) }],
    // Not structuredContent: clients check that against the output schema, also of errors.
    _meta: { [errorMetaKey]: eachText(error, redact) },
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

/** The same data with each text in it changed: keys of objects are ours, texts may not be. */
function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => eachText(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, eachText(field, change)]),
  )
}

/** The list that shows what a creating tool created: a GET of the very same path. */
function checkFor(tool: Tool, tools: readonly Tool[]): string | undefined {
  const { path } = tool.route
  return tools.find(({ route }) => route.method === 'GET' && route.path === path)?.name
}
