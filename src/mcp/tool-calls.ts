import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { knownOwnAccountId } from '../platform/sessions/account.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { Audit } from '../server/audit/audit.ts'
import type { AuditedToolCall, Target } from '../server/audit/tool-call-record.ts'
import type { Ended, Observer } from '../server/observe/observer.ts'
import type { StateError } from '../state/state-access.ts'
import { closestWord } from '../text/closest-match.ts'
import { clientText } from '../text/safe-text.ts'
import type { ConfirmedCall } from '../tool/confirmation.ts'
import { errorMetaKey } from '../tool/result.ts'
import { type CallContext, runToolCall } from '../tool/run-tool-call.ts'
import type { Tool } from '../tool/tool.ts'
import type { CancellableRequest, Cancellations } from './cancellations.ts'
import type { RequestSender } from './client-of-request.ts'
import type { Exposure } from './exposure.ts'

/**
 * Features of the client that a running tool call uses: confirmations, progress notifications and
 * tasks.
 */
export type ToolClient = Pick<CallContext, 'confirmOf' | 'progress' | 'takesTasks'>

/** A client that can receive only the result. For tools that never ask for confirmation. */
export const answerOnlyClient: ToolClient = {
  confirmOf:
    async ({ tool }) =>
    () =>
      Promise.reject(new Error(`${tool} asks for confirmation, but its record does not say so`)),
  progress: () => undefined,
  takesTasks: false,
}

/** Context of a tool call's request. */
interface ToolRequest {
  readonly session: Session
  /** All tools that are exposed to the request. */
  readonly tools: readonly Tool[]
  readonly client: ToolClient
  /** Who sent the request. Called only if the tool call is recorded, to save work. */
  readonly sender: () => RequestSender
  /** Fires when the request is cancelled, or the client has disconnected. */
  readonly signal: AbortSignal
  /**
   * Set for stateless HTTP of the 2025 revisions, where the cancellation of a request arrives in
   * another request.
   */
  readonly stateless: Omit<CancellableRequest, 'keyHash'> | undefined
}

type RunTool = (
  tool: Tool,
  args: Record<string, unknown>,
  request: ToolRequest,
) => Promise<CallToolResult | InputRequiredResult>

/** Handles every `tools/call`, from the MCP SDK, from HTTP's fast path and from the terminal. */
export interface ToolCalls {
  /** Runs an exposed tool. */
  readonly run: RunTool
  /**
   * Records a tool call that names an unknown tool, or one that is not exposed to the request.
   * Returns its error.
   */
  readonly unknownTool: UnknownTool
}

interface ToolCallsOptions {
  readonly cancellations: Cancellations
  /** Fires when the stdio client has disconnected, or the server is stopping. */
  readonly shutdown?: AbortSignal | undefined
  readonly onBug: CallContext['onBug']
  /** Called with every state failure of a request. */
  readonly onStateFailure: (error: StateError) => void
  readonly observer?: Observer | undefined
  /** The audit trail of changes; `undefined`: nothing is recorded. */
  readonly audit?: Audit | undefined
}

export function createToolCalls(options: ToolCallsOptions): ToolCalls {
  const { observer, audit } = options
  const runTool = observer
    ? observedCalls(cancellableCalls(options), observer)
    : cancellableCalls(options)
  return {
    run: audit ? auditedCalls(runTool, audit) : runTool,
    unknownTool: createUnknownTool(observer, audit),
  }
}

/** Runs tools until their request is cancelled, or the server is stopping. */
const cancellableCalls =
  ({ cancellations, shutdown, onBug, onStateFailure }: ToolCallsOptions): RunTool =>
  (tool, args, { session, tools, client, sender, signal: requestSignal, stateless }) => {
    const stateFailed = (error: StateError) => {
      onStateFailure(error)
      // Over HTTP, the client is not the operator and gets no details.
      return sender().transport === 'http' ? undefined : error.message
    }
    const run = (signal: AbortSignal) =>
      runToolCall(tool, args, { session, tools, signal, shutdown, onBug, stateFailed, ...client })
    if (!stateless) return run(requestSignal)
    return cancellations.run({ keyHash: session.keyHash, ...stateless }, requestSignal, run)
  }

/** Runs tools, and records their outcome in log, metrics and traces. */
const observedCalls =
  (runTool: RunTool, observer: Observer): RunTool =>
  (tool, args, request) => {
    const call = { tool: tool.name, operation: tool.route.id }
    return observer.toolCall(call, () => runTool(tool, args, request), outcomeOf)
  }

/** Runs tools, and records those that change something in the audit trail. */
const auditedCalls =
  (runTool: RunTool, audit: Audit): RunTool =>
  (tool, args, request) => {
    if (tool.effect === 'reads') return runTool(tool, args, request)
    const client = { ...request.client, confirmOf: auditedConfirmation(request.client, audit) }
    return audit.toolCall(
      auditedCall(tool, args, request),
      () => runTool(tool, args, { ...request, client }),
      (ended) => ({
        word: outcomeOf(ended),
        targets: 'result' in ended ? targetsOf(ended.result) : [],
      }),
    )
  }

/** A tool call for the audit trail. */
function auditedCall(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { session, sender }: { readonly session: Session; readonly sender: () => RequestSender },
): AuditedToolCall {
  const { transport, client, userAgent } = sender()
  const { keyHash, platform, clientNetwork, oauthClient, redact } = session
  return {
    tool: tool.name,
    arguments: args,
    argumentNames: Object.keys(tool.input.shape),
    caller: {
      ...{ keyHash, platform, transport, redact },
      accountId: () => accountOf(args, session),
      network: clientNetwork,
      oauthClient,
      client: client
        ? { name: client.name, version: client.version }
        : { ...(userAgent !== undefined && { user_agent: userAgent }) },
    },
  }
}

/** Account of a tool call, if known before anything is sent. */
function accountOf({ account_id: named }: Readonly<Record<string, unknown>>, session: Session) {
  const { pinnedAccount } = session
  if (pinnedAccount !== undefined && pinnedAccount !== 'me') return pinnedAccount
  const isOwn = pinnedAccount === 'me' || named === undefined || named === null || named === 'me'
  return isOwn ? knownOwnAccountId(session) : undefined
}

const auditedConfirmation =
  ({ confirmOf }: ToolClient, audit: Audit): ToolClient['confirmOf'] =>
  async (call: Omit<ConfirmedCall, 'asksIn' | 'earlier'>) => {
    const confirm = await confirmOf(call)
    return async (what) => {
      audit.confirmed('not_given')
      const agreement = await confirm(what)
      audit.confirmed(agreement.by)
      return agreement
    }
  }

type UnknownTool = (
  name: string,
  exposure: Exposure,
  args: Readonly<Record<string, unknown>>,
  caller: { readonly session: Session; readonly sender: () => RequestSender },
) => ProtocolError

const createUnknownTool =
  (observer: Observer | undefined, audit: Audit | undefined): UnknownTool =>
  (name, { all, tools, hidden }, args, caller) => {
    // Clients can send any name, so it is not recorded.
    observer?.toolCallEnded({ tool: 'unknown', operation: '' }, 'protocol_error')
    const tool = all.find((one) => one.name === name)
    if (tool && tool.effect !== 'reads')
      audit?.refused(auditedCall(tool, args, caller), { word: 'not_exposed', targets: [] })
    const reason = hidden.get(name)
    if (reason) return new ProtocolError(-32602, `The tool ${name} is not exposed by ${reason}.`)
    const names = tools.map((one) => one.name)
    const meant = closestWord(name.slice(0, 64), names)
    const shown = clientText(name, undefined, caller.session.redact.start)
    const hint = meant ? ` Did you mean ${meant}?` : ''
    return new ProtocolError(-32602, `There is no tool ${shown}.${hint}`)
  }

/**
 * The field `confirmation` of a result. Platform data may have a field of the same name, so the
 * value is validated.
 */
const Confirmation = z
  .object({ state: z.enum(['needed', 'declined', 'dismissed']) })
  .optional()
  .catch(undefined)

/** Fields of a tool result that decide the outcome. All come from this server. */
const EndedCall = z.object({
  resultType: z.string().optional(),
  isError: z.boolean().optional(),
  structuredContent: z.object({ confirmation: Confirmation }).optional().catch(undefined),
  _meta: z.object({ [errorMetaKey]: z.object({ kind: z.string() }).optional() }).optional(),
})

/**
 * Outcome of a tool call in one word: `ok`; the kind of its error (docs/errors.md);
 * `input_required`, `task`, or the state of a confirmation; `protocol_error` for a JSON-RPC error.
 */
export function outcomeOf(ended: Ended<unknown>) {
  if ('error' in ended) return ended.error instanceof ProtocolError ? 'protocol_error' : 'internal'
  const { data } = EndedCall.safeParse(ended.result)
  const { isError, resultType = 'complete', structuredContent, _meta } = data ?? {}
  const { confirmation } = structuredContent ?? {}
  if (confirmation) return `confirmation_${confirmation.state}`
  if (isError) return _meta?.[errorMetaKey]?.kind ?? 'failed'
  return resultType === 'complete' ? 'ok' : resultType
}

/** The fields of a bulk result that identify an item and its outcome. */
const Item = z.object({
  agent_id: z.string().optional(),
  phone_number_id: z.string().optional(),
  name: z.string().optional(),
  to_number: z.string().optional(),
  outcome: z.string(),
})
const Items = z.array(Item)

/** Results of bulk tools. A call for one item has no summary. */
const Result = z.object({
  structuredContent: z.object({
    summary: z.record(z.string(), z.number()),
    agents: Items.default([]),
    numbers: Items.default([]),
    calls: Items.default([]),
  }),
})

/** The outcome of each item of a tool call for several items; empty for one item. */
export function targetsOf(result: unknown): readonly Target[] {
  const { data } = Result.safeParse(result)
  if (!data) return []
  const { agents, numbers, calls } = data.structuredContent
  return [...agents, ...numbers, ...calls].map(
    ({ agent_id, phone_number_id, name, to_number, outcome }) => ({
      id: agent_id ?? phone_number_id ?? (to_number === undefined ? name : undefined),
      to_number,
      outcome,
    }),
  )
}
