import { ProtocolError, type Server, type ServerContext } from '@modelcontextprotocol/server'
import { clientText } from '../../text/client-text.ts'
import { closestWord } from '../../text/closest-match.ts'
import { safeLine } from '../../text/safe-text.ts'
import type { Confirmations } from '../call/confirmation.ts'
import type { Cancellations } from './cancellation.ts'
import { clientFeaturesOf } from './client-capabilities.ts'
import { refuseCursor } from './cursor.ts'
import type { Exposure } from './exposure.ts'
import type { ServedRequest } from './served-request.ts'
import type { RunTool, ToolClient } from './tool-calls.ts'

/** `tools/list` and `tools/call`. */
export function serveTools(
  server: Server,
  { session, exposure, catalogue, header, isStatelessLegacy }: ServedRequest,
  {
    runTool,
    confirmations,
    onUnknownTool,
  }: {
    readonly runTool: RunTool
    readonly confirmations: Confirmations
    readonly onUnknownTool?: (() => void) | undefined
  },
): void {
  server.setRequestHandler('tools/list', ({ params }) => {
    refuseCursor(params)
    return { tools: catalogue.listed() }
  })
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const tool = catalogue.byName.get(params.name)
    if (!tool) {
      onUnknownTool?.()
      throw unknownTool(session.redact(params.name), exposure)
    }
    const { id, signal } = context.mcpReq
    return runTool(tool, params.arguments ?? {}, {
      session,
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
