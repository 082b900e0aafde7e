import {
  type Implementation,
  type McpServerFactory,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type Credential, credentialOf } from '../../session/credential.ts'
import { restrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import { clientText } from '../../text/client-text.ts'
import { closestWord } from '../../text/closest-match.ts'
import { safeLine } from '../../text/safe-text.ts'
import { type CallContext, callTool } from '../call/call.ts'
import type { ConfirmMode } from '../call/confirm-mode.ts'
import { createConfirmations } from '../call/confirmation.ts'
import type { CallTaskView } from '../call/task.ts'
import { callTasks, createCancelledTasks } from './call-tasks.ts'
import { type Cancellations, createCancellations } from './cancellation.ts'
import { clientFeaturesOf } from './client-capabilities.ts'
import { complete } from './completions.ts'
import { ErrorRewritingServer } from './error-rewriting-server.ts'
import type { Exposure } from './exposure.ts'
import type { Prompt } from './prompt.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import type { ExposureOfRequest, GetHeader } from './request-exposure.ts'
import { listResources, readResource, refuseCursor, resourceTemplates } from './resources.ts'
import { serverInfoOf } from './server-info.ts'
import { serveSubscriptions } from './subscription-methods.ts'
import { serveTasks } from './task-methods.ts'
import { createToolCatalogues, type ToolCatalogue } from './tool-catalogue.ts'

export interface ServerFactoryOptions {
  /** What is exposed to a connection or an HTTP request, by the request's headers. */
  readonly exposureFor: ExposureOfRequest
  readonly prompts: readonly Prompt[]
  readonly version: string
  readonly isSandbox: boolean
  /** Account that all sessions act on, where the operator has pinned it. */
  readonly account: string | undefined
  /** The access of a connection (stdio, no key given) or of an HTTP request. */
  readonly sessionFor: (credential: Credential | undefined) => Session
  /** How calls are shown that are followed as tasks. */
  readonly callTaskView: CallTaskView
  readonly confirm: ConfirmMode
  readonly onBug: CallContext['onBug']
  /** Fires when the only client there is has gone, or the server is told to stop. */
  readonly shutdown?: AbortSignal | undefined
  /** Told of each server that is made, for what a transport has to send through it. */
  readonly onServer?: (server: Server, session: Session) => void
}

/** Makes servers, and gives what answers without one from the same parts. */
export interface ServerFactory {
  /**
   * Called for each HTTP request and each stdio connection, so all it does is bind handlers to a
   * session.
   */
  readonly factory: McpServerFactory
  readonly info: Implementation
  readonly catalogueOf: (exposure: Exposure) => ToolCatalogue
  readonly cancellations: Cancellations
}

export function createServerFactory(options: ServerFactoryOptions): ServerFactory {
  const { exposureFor, prompts, isSandbox, version, onBug } = options
  const info = serverInfoOf(isSandbox, version)
  const confirmations = createConfirmations(options.confirm)
  const catalogueOf = createToolCatalogues({
    ...options,
    requestState: { verify: confirmations.open },
  })
  const cancelledTasks = createCancelledTasks()
  const cancellations = createCancellations()

  const factory: McpServerFactory = ({ era, authInfo, requestInfo }) => {
    const header: GetHeader = (name) => requestInfo?.headers.get(name) ?? undefined
    const selected = exposureFor(header)
    // The transport has answered such a request already.
    if (!selected.ok)
      throw new Error(`A refused request got past the transport: ${selected.message}`)
    const { exposure } = selected
    const { tools } = exposure
    const catalogue = catalogueOf(exposure)
    const session = options.sessionFor(credentialOf(authInfo))
    // Stateless HTTP of the 2025 revisions has no stream on which a client could be told anything.
    const isStatelessLegacy = era === 'legacy' && requestInfo !== undefined
    const isModern = era === 'modern'
    const serverOptions = isModern
      ? catalogue.modern
      : isStatelessLegacy
        ? catalogue.statelessLegacy
        : catalogue.legacy
    const server = new ErrorRewritingServer(info, serverOptions, isModern ? 'modern' : '2025')
    server.setRequestHandler('tools/list', ({ params }) => {
      refuseCursor(params)
      return { tools: catalogue.listed() }
    })
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const tool = catalogue.byName.get(params.name)
      if (!tool) throw noSuchTool(session.redact(params.name), exposure)
      const abilities = clientFeaturesOf(server, context)
      const work = (signal: AbortSignal) =>
        callTool(tool, params.arguments ?? {}, {
          session,
          tools,
          signal,
          shutdown: options.shutdown,
          onBug,
          confirmOf: (call) => confirmations.of({ ...call, ...abilities, context }),
          progress: progressOf(context),
          takesTasks: abilities.takesTasks,
        })
      const { id } = context.mcpReq
      const { shutdown } = options
      // What is under way is answered to the end, but nobody else is dialled for a client that has
      // gone, or by a server that is told to stop: the answer says who was.
      const isMany = tool.asksConfirmation && tool.reportsProgress
      const signal =
        isMany && shutdown
          ? AbortSignal.any([context.mcpReq.signal, shutdown])
          : context.mcpReq.signal
      return isStatelessLegacy ? cancellations.run(caller, { id, signal }, work) : work(signal)
    })
    const caller = cancellations.callerOf(session.owner, header)
    if (isStatelessLegacy) {
      server.setNotificationHandler('notifications/cancelled', ({ params: { requestId } }) => {
        if (requestId !== undefined) cancellations.cancel(caller, requestId)
      })
    }
    const reading = { session: restrictedSession(session, tools), onBug }
    const promptContext = { ...reading, prompts }
    server.setRequestHandler('prompts/list', ({ params }) => {
      refuseCursor(params)
      return listPrompts(promptContext)
    })
    server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) =>
      getPrompt(promptContext, params.name, params.arguments, signal),
    )
    server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) =>
      complete(promptContext, params, signal),
    )
    if (isModern) {
      const { callTaskView } = options
      serveTasks(server, callTasks({ session, tools, onBug, cancelledTasks, callTaskView }))
    }
    if (!isStatelessLegacy) serveSubscriptions(server, reading)
    options.onServer?.(server, session)
    server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
      listResources(reading, params?.cursor, signal),
    )
    server.setRequestHandler('resources/templates/list', ({ params }) => {
      refuseCursor(params)
      return { resourceTemplates: resourceTemplates(reading.session) }
    })
    server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
      readResource(reading, params.uri, signal),
    )
    return server
  }
  return { factory, info, catalogueOf, cancellations }
}

function noSuchTool(name: string, { tools, hidden }: Exposure): ProtocolError {
  const reason = hidden.get(name)
  if (reason) return new ProtocolError(-32602, `The tool ${name} is not exposed by ${reason}.`)
  const names = tools.map((tool) => tool.name)
  const meant = closestWord(name.slice(0, 64), names)
  const hint = meant ? ` Did you mean ${meant}?` : ''
  return new ProtocolError(-32602, `There is no tool ${clientText(name)}.${hint}`)
}

/** Sends progress where the client has asked for it. */
function progressOf({ mcpReq }: ServerContext): CallContext['progress'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  return (progress, message) => {
    const params = { progressToken, progress, message: safeLine(message) }
    // Who has gone needs no progress.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
