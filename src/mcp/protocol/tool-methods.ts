import { ProtocolError, type Server, type ServerContext } from '@modelcontextprotocol/server'
import type { Session } from '../../session/session.ts'
import { clientText } from '../../text/client-text.ts'
import { closestWord } from '../../text/closest-match.ts'
import { safeLine } from '../../text/safe-text.ts'
import type { Confirmations } from '../call/confirmation.ts'
import type { Tool } from '../call/tool.ts'
import type { Cancellations } from './cancellation.ts'
import { clientFeaturesOf } from './client-capabilities.ts'
import { refuseCursor } from './cursor.ts'
import type { Exposure } from './exposure.ts'
import { type RequestSender, requestSender } from './request-sender.ts'
import type { ServedRequest } from './served-request.ts'
import type { RunTool, ToolClient } from './tool-calls.ts'

/** A call of a tool that is not there, or that is not exposed to the request. */
export interface UnknownToolCall {
  /** The tool that is not exposed; `undefined`: there is none of that name. */
  readonly tool: Tool | undefined
  readonly arguments: Readonly<Record<string, unknown>>
  readonly session: Session
  readonly sender: () => RequestSender
}

export type OnUnknownTool = (call: UnknownToolCall) => void

/** `tools/list` and `tools/call`. */
export function serveTools(
  server: Server,
  request: ServedRequest,
  {
    runTool,
    confirmations,
    onUnknownTool,
  }: {
    readonly runTool: RunTool
    readonly confirmations: Confirmations
    readonly onUnknownTool?: OnUnknownTool | undefined
  },
): void {
  const { session, exposure, catalogue, header, isStatelessLegacy } = request
  server.setRequestHandler('tools/list', ({ params }) => {
    refuseCursor(params)
    return { tools: catalogue.listed() }
  })
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const { name, arguments: args = {} } = params
    const tool = catalogue.byName.get(name)
    const sender = () => requestSender(server, context, request)
    if (!tool) {
      const hidden = exposure.all.find((one) => one.name === name)
      onUnknownTool?.({ tool: hidden, arguments: args, session, sender })
      throw unknownTool(session.redact(name), exposure)
    }
    const { id, signal } = context.mcpReq
    return runTool(tool, args, {
      session,
      sender,
      tools: exposure.tools,
      client: clientOf(server, context, confirmations),
      signal,
      stateless: isStatelessLegacy ? { id, header } : undefined,
    })
  })
}

/** `notifications/cancelled` for a request that another server of the same process answers. */
export function serveCancellations(
  server: Server,
  { session, header }: ServedRequest,
  cancellations: Cancellations,
): void {
  const caller = cancellations.callerOf(session.owner, header)
  server.setNotificationHandler('notifications/cancelled', ({ params: { requestId } }) => {
    if (requestId !== undefined) cancellations.cancel(caller, requestId)
  })
}

function clientOf(
  server: Server,
  context: ServerContext,
  confirmations: Confirmations,
): ToolClient {
  const { canAsk, takesTasks } = clientFeaturesOf(server, context)
  return {
    confirmOf: (call) => confirmations.of({ ...call, canAsk, context }),
    progress: progressTo(context),
    takesTasks,
  }
}

/** Sends progress notifications if the request has a progress token. */
function progressTo({ mcpReq }: ServerContext): ToolClient['progress'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  return (progress, message) => {
    const params = { progressToken, progress, message: safeLine(message) }
    // It fails only when the client is gone.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

function unknownTool(name: string, { tools, hidden }: Exposure): ProtocolError {
  const reason = hidden.get(name)
  if (reason) return new ProtocolError(-32602, `The tool ${name} is not exposed by ${reason}.`)
  const names = tools.map((tool) => tool.name)
  const meant = closestWord(name.slice(0, 64), names)
  const hint = meant ? ` Did you mean ${meant}?` : ''
  return new ProtocolError(-32602, `There is no tool ${clientText(name)}.${hint}`)
}
