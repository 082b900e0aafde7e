import type { Implementation, McpServerFactory, Server } from '@modelcontextprotocol/server'
import { type Credential, credentialOf } from '../../session/credential.ts'
import { restrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import type { CancelledTasks } from '../../state/cancelled-tasks.ts'
import type { Confirmations } from '../call/confirmation.ts'
import type { CallTaskView } from '../call/task.ts'
import { callTasks } from './call-tasks.ts'
import type { Cancellations } from './cancellation.ts'
import type { Era, GetHeader } from './envelope.ts'
import { ErrorRewritingServer } from './error-rewriting-server.ts'
import type { Exposure } from './exposure.ts'
import type { RequestId } from './json-rpc.ts'
import type { ObservedContext, RequestObserving } from './observed-request.ts'
import { ObservedServer, type ServerObserving } from './observed-server.ts'
import type { Prompt } from './prompt.ts'
import { servePrompts } from './prompt-methods.ts'
import type { ExposureOfRequest } from './request-exposure.ts'
import { serveResources } from './resource-methods.ts'
import type { ServedRequest } from './served-request.ts'
import { serveSubscriptions } from './subscription-methods.ts'
import { serveTasks } from './task-methods.ts'
import type { RunTool } from './tool-calls.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'
import { serveCancellations, serveTools } from './tool-methods.ts'
import type { OnUnknownTool } from './unknown-tool.ts'

export interface ServerFactoryOptions {
  readonly info: Implementation
  /** What is exposed to a connection or an HTTP request, by the request's headers. */
  readonly exposureFor: ExposureOfRequest
  /** The session of a connection (stdio, no key given) or of an HTTP request. */
  readonly sessionFor: (credential: Credential | undefined) => Session
  readonly catalogueOf: (exposure: Exposure) => ToolCatalogue
  readonly prompts: readonly Prompt[]
  readonly runTool: RunTool
  readonly confirmations: Confirmations
  readonly cancellations: Cancellations
  readonly cancelledTasks: CancelledTasks
  readonly callTaskView: CallTaskView
  readonly onBug: (error: unknown) => void
  readonly onUnknownTool?: OnUnknownTool | undefined
  /** Records requests; `undefined`: nothing is recorded. */
  readonly observing?: RequestObserving | undefined
  /** Whether a request was answered, and recorded, before the SDK received it. */
  readonly isAnswered?: ((id: RequestId) => boolean) | undefined
  /** Receives each server that is made, for what a transport sends through it. */
  readonly onServer?: (server: Server, session: Session) => void
}

/**
 * Makes a server of the SDK for each HTTP request and each stdio connection. It only binds handlers
 * to a session; everything else is made once.
 */
export function createServerFactory(options: ServerFactoryOptions): McpServerFactory {
  return ({ era: protocolEra, authInfo, requestInfo }) => {
    const era: Era = protocolEra === 'modern' ? 'modern' : '2025'
    const header: GetHeader = (name) => requestInfo?.headers.get(name) ?? undefined
    const credential = credentialOf(authInfo)
    const request: ServedRequest = {
      ...exposedTo(header, credential, options),
      session: options.sessionFor(credential),
      header,
      transport: requestInfo === undefined ? 'stdio' : 'http',
      isStatelessLegacy: era === '2025' && requestInfo !== undefined,
    }
    const server = createServer(request, era, options)
    serveMethods(server, request, { ...options, era })
    options.onServer?.(server, request.session)
    return server
  }
}

function createServer(served: ServedRequest, era: Era, options: ServerFactoryOptions): Server {
  const serverOptions = serverOptionsOf(served, era)
  const { info, observing } = options
  if (!observing) return new ErrorRewritingServer(info, serverOptions, era)
  const observed = observingOf(served, era, { ...options, observing })
  return new ObservedServer(info, serverOptions, { era, observing: observed })
}

function observingOf(
  { session, catalogue, header, transport }: ServedRequest,
  era: Era,
  {
    observing,
    prompts,
    isAnswered,
  }: Pick<ServerFactoryOptions, 'prompts' | 'isAnswered'> & {
    readonly observing: RequestObserving
  },
): ServerObserving {
  const context = (revision: string | undefined): ObservedContext => ({
    ...{ owner: session.owner, era, transport, header, revision },
    isTool: (name) => catalogue.byName.has(name),
    isPrompt: (name) => prompts.some((prompt) => prompt.name === name),
  })
  return {
    request: (request, revision, run) =>
      isAnswered?.(request.id) ? run() : observing.run(request, context(revision), run),
    refused: (id, revision, code) =>
      observing.refused({ method: 'unknown', id }, context(revision), code),
  }
}

function exposedTo(
  header: GetHeader,
  credential: Credential | undefined,
  { exposureFor, catalogueOf }: ServerFactoryOptions,
): Pick<ServedRequest, 'exposure' | 'catalogue'> {
  const requested = exposureFor(header, credential?.scopes)
  // The transport refuses such a request before.
  if (!requested.ok) throw new Error(`The transport let a request through: ${requested.message}`)
  return { exposure: requested.exposure, catalogue: catalogueOf(requested.exposure) }
}

function serverOptionsOf({ catalogue, isStatelessLegacy }: ServedRequest, era: Era) {
  if (era === 'modern') return catalogue.modern
  return isStatelessLegacy ? catalogue.statelessLegacy : catalogue.legacy
}

function serveMethods(
  server: Server,
  request: ServedRequest,
  { era, ...options }: ServerFactoryOptions & { readonly era: Era },
): void {
  const { session, exposure, isStatelessLegacy } = request
  const { onBug } = options
  const readContext = { session: restrictedSession(session, exposure.tools), onBug }
  serveTools(server, request, options)
  serveResources(server, request, readContext)
  servePrompts(server, { ...readContext, prompts: options.prompts })
  if (era === 'modern')
    serveTasks(server, callTasks({ session, tools: exposure.tools, ...options }))
  if (isStatelessLegacy) serveCancellations(server, request, options.cancellations)
  else serveSubscriptions(server, readContext)
}
