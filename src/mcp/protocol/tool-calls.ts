import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { Observer } from '../../observe/observer.ts'
import type { Session } from '../../session/session.ts'
import { type CallContext, callTool } from '../call/call.ts'
import type { Tool } from '../call/tool.ts'
import { outcomeOf } from './call-outcome.ts'
import type { Cancellations } from './cancellation.ts'
import type { GetHeader } from './envelope.ts'
import type { RequestSender } from './request-sender.ts'

/** What a client can take part in while a tool runs. */
export type ToolClient = Pick<CallContext, 'confirmOf' | 'progress' | 'takesTasks'>

/** A client that receives the answer and nothing else. Only for tools that never ask. */
export const answerOnlyClient: ToolClient = {
  confirmOf:
    async ({ tool }) =>
    () =>
      Promise.reject(new Error(`${tool} asks for confirmation, but its record does not say so`)),
  progress: () => undefined,
  takesTasks: false,
}

/** What a call needs to know of its request. */
export interface ToolRequest {
  readonly session: Session
  /** All tools that are exposed to the request. */
  readonly tools: readonly Tool[]
  readonly client: ToolClient
  /** Asked only where it is recorded. */
  readonly sender: () => RequestSender
  /** Fires when the request is cancelled, or its client is gone. */
  readonly signal: AbortSignal
  /**
   * Set for stateless HTTP of the 2025 revisions, where the cancellation of a request arrives in
   * another request.
   */
  readonly stateless: { readonly id: string | number; readonly header: GetHeader } | undefined
}

/** Runs one `tools/call`. */
export type RunTool = (
  tool: Tool,
  args: Record<string, unknown>,
  request: ToolRequest,
) => Promise<CallToolResult | InputRequiredResult>

/** How every `tools/call` runs, whichever path its request takes. */
export function createToolCalls({
  cancellations,
  shutdown,
  onBug,
  observer,
}: {
  readonly cancellations: Cancellations
  /** Fires when the only client is gone, or the server has to stop. */
  readonly shutdown: AbortSignal | undefined
  readonly onBug: CallContext['onBug']
  readonly observer?: Observer | undefined
}): RunTool {
  const runTool: RunTool = (
    tool,
    args,
    { session, tools, client, signal: requestSignal, stateless },
  ) => {
    const run = (signal: AbortSignal) =>
      callTool(tool, args, { session, tools, signal, shutdown, onBug, ...client })
    const signal = placesManyCalls(tool) ? anyOf(requestSignal, shutdown) : requestSignal
    if (!stateless) return run(signal)
    const caller = cancellations.callerOf(session.owner, stateless.header)
    return cancellations.run(caller, { id: stateless.id, signal }, run)
  }
  if (!observer) return runTool
  return (tool, args, request) => {
    const call = { tool: tool.name, operation: tool.route.id }
    return observer.toolCall(call, () => runTool(tool, args, request), outcomeOf)
  }
}

/**
 * A tool that places several calls stops at a shutdown: a call that was begun is finished, and the
 * result tells which numbers were called. Every other tool is answered to its end.
 */
const placesManyCalls = ({ asksConfirmation, reportsProgress }: Tool) =>
  asksConfirmation && reportsProgress

const anyOf = (signal: AbortSignal, other: AbortSignal | undefined) =>
  other ? AbortSignal.any([signal, other]) : signal
