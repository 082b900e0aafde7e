import type {
  Tool as ProtocolTool,
  Server,
  ServerContext,
  ServerOptions,
} from '@modelcontextprotocol/server'
import { type ViewName, viewMeta } from '../apps/views.ts'
import { safeLine } from '../text/safe-text.ts'
import { type ConfirmMode, listsToken, withoutToken } from '../tool/confirm-mode.ts'
import type { Confirmations } from '../tool/confirmation.ts'
import { jsonSchemaValidator } from '../tool/confirmation-question.ts'
import type { SingleUseToken } from '../tool/single-use-tokens.ts'
import {
  clientFeaturesOf,
  requestSender,
  type ServedRequest,
  showsViews,
} from './client-of-request.ts'
import { refuseCursor } from './errors.ts'
import { type Exposure, listedTools } from './exposure.ts'
import type { Protocol } from './messages.ts'
import { serverOptionsFor } from './server-info.ts'
import type { ToolCalls, ToolClient } from './tool-calls.ts'

/** Serves `tools/list` and `tools/call`. */
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

/** Tools and server options of one exposure. Constant while the server runs. */
export type ToolCatalogue = ReturnType<typeof catalogueOf>

interface ToolCatalogueOptions {
  readonly isSandbox: boolean
  /** Account that the operator has pinned for all sessions. */
  readonly account: string | undefined
  readonly confirm: ConfirmMode
  /** Verifies the state that a client returns with its answers to questions. */
  readonly requestState: NonNullable<ServerOptions['requestState']>
}

/** Returns the catalogue of an exposure, created at its first use. */
export function createToolCatalogues(
  options: ToolCatalogueOptions,
): (exposure: Exposure) => ToolCatalogue {
  const catalogues = new WeakMap<Exposure, ToolCatalogue>()
  return (exposure) => {
    const known = catalogues.get(exposure)
    if (known) return known
    const catalogue = catalogueOf(exposure, options)
    catalogues.set(exposure, catalogue)
    return catalogue
  }
}

function catalogueOf(exposure: Exposure, options: ToolCatalogueOptions) {
  const { account, confirm, requestState } = options
  const accounts = account === undefined ? 'any' : 'pinned'
  const shown = listsToken(confirm) ? (tool: ProtocolTool) => tool : withoutToken
  const optionsOf = (protocol: Protocol) => ({
    ...serverOptionsFor({ ...options, exposure }, protocol),
    jsonSchemaValidator,
    requestState,
  })
  const legacy = optionsOf('2025')
  return {
    byName: new Map(exposure.tools.map((tool) => [tool.name, tool])),
    /** Tools for `tools/list`; `views`: with the URIs of their views. */
    listed: (views: boolean) =>
      listedTools(exposure).map((tool) =>
        withView(shown(tool.listed(accounts)), views ? tool.view : undefined),
      ),
    modern: optionsOf('modern'),
    /** For connections of the 2025 revisions. */
    legacy,
    /** For HTTP requests of the 2025 revisions: no client can be notified of changes. */
    statelessLegacy: { ...legacy, capabilities: { ...legacy.capabilities, resources: {} } },
  }
}

/** Adds the URI of the tool's view, if any. */
const withView = (tool: ProtocolTool, view: ViewName | undefined): ProtocolTool =>
  view === undefined ? tool : { ...tool, _meta: viewMeta(view) }
