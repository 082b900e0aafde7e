import type { Server, ServerContext } from '@modelcontextprotocol/server'
import { safeLine } from '../../text/safe-text.ts'
import type { Confirmations } from '../call/confirmation.ts'
import type { TokenContent } from '../call/single-use-tokens.ts'
import type { Cancellations } from './cancellation.ts'
import { clientFeaturesOf } from './client-capabilities.ts'
import { refuseCursor } from './cursor.ts'
import { requestSender } from './request-sender.ts'
import type { ServedRequest } from './served-request.ts'
import type { RunTool, ToolClient } from './tool-calls.ts'
import { type OnUnknownTool, unknownToolError } from './unknown-tool.ts'
import { showsViews } from './view-clients.ts'

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
  server.setRequestHandler('tools/list', ({ params }, context) => {
    refuseCursor(params)
    return { tools: catalogue.listed(showsViews(server, context, request)) }
  })
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const { name, arguments: args = {} } = params
    const tool = catalogue.byName.get(name)
    const sender = () => requestSender(server, context, request)
    if (!tool)
      throw unknownToolError(name, exposure, { arguments: args, session, sender }, onUnknownTool)
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
  const { mcpReq } = context
  return {
    confirmOf: (call) => {
      // The server has called `verifyState` before.
      const earlier = {
        state: mcpReq.requestState<TokenContent>(),
        answers: mcpReq.inputResponses,
      }
      return confirmations.of({ ...call, canAsk, earlier })
    },
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
