import type { Server, ServerContext } from '@modelcontextprotocol/server'
import { safeLine } from '../text/safe-text.ts'
import type { Confirmations } from '../tool/confirmation.ts'
import type { SingleUseToken } from '../tool/single-use-tokens.ts'
import {
  clientFeaturesOf,
  requestSender,
  type ServedRequest,
  showsViews,
} from './client-of-request.ts'
import { refuseCursor } from './errors.ts'
import type { ToolCalls, ToolClient } from './tool-calls.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** `tools/list` and `tools/call`. */
export function serveTools(
  server: Server,
  request: ServedRequest,
  {
    catalogue,
    toolCalls,
    confirmations,
  }: {
    readonly catalogue: ToolCatalogue
    readonly toolCalls: ToolCalls
    readonly confirmations: Confirmations
  },
): void {
  const { session, exposure, header, isStatelessLegacy } = request
  server.setRequestHandler('tools/list', ({ params }, context) => {
    refuseCursor(params)
    return { tools: catalogue.listed(showsViews(server, context, request)) }
  })
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const { name, arguments: args = {} } = params
    const tool = catalogue.byName.get(name)
    const sender = () => requestSender(server, context, request)
    if (!tool) throw toolCalls.unknownTool(name, exposure, args, { session, sender })
    const { id, signal } = context.mcpReq
    return toolCalls.run(tool, args, {
      session,
      sender,
      tools: exposure.tools,
      client: clientOf(server, context, { confirmations, request }),
      signal,
      stateless: isStatelessLegacy ? { id, header } : undefined,
    })
  })
}

function clientOf(
  server: Server,
  context: ServerContext,
  { confirmations, request }: { confirmations: Confirmations; request: ServedRequest },
): ToolClient {
  const { canAsk, takesTasks } = clientFeaturesOf(server, context)
  const { mcpReq } = context
  return {
    confirmOf: (call) => {
      // The SDK has verified `requestState` already, with `ToolCatalogueOptions.requestState`.
      const earlier = {
        requestState: mcpReq.requestState<SingleUseToken>(),
        answers: mcpReq.inputResponses,
      }
      const asksIn = canAsk ? 'form' : showsViews(server, context, request) ? 'view' : undefined
      return confirmations.of({ ...call, asksIn, earlier })
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
    // Fails only if the client has disconnected.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
