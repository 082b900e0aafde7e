import {
  type Implementation,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpRequestContext,
  type Result,
  Server,
  type ServerContext,
  type ServerOptions,
  type Transport,
} from '@modelcontextprotocol/server'
import { type Credential, credentialOf } from '../platform/sessions/credential.ts'
import { restrictedSession } from '../platform/sessions/restricted-session.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { Observer } from '../server/observe/observer.ts'
import type { Confirmations } from '../tool/confirmation.ts'
import type { CallTaskView, CancelledTasks } from '../tool/task.ts'
import { type Cancellations, serveCancellations } from './cancellations.ts'
import type { ServedRequest } from './client-of-request.ts'
import { messageForClient } from './errors.ts'
import type { Exposure } from './exposure.ts'
import type { GetHeader, Protocol, RequestId } from './messages.ts'
import { scopedExposure } from './oauth-scopes.ts'
import { type ObservedContext, observedRequest, requestRefused } from './observed-request.ts'
import type { Prompt } from './prompt-definition.ts'
import { servePrompts } from './prompts.ts'
import type { ExposureOfRequest } from './request-exposure.ts'
import { serveResources } from './resources.ts'
import { type Skill, serveSkills } from './skills.ts'
import { serveSubscriptions } from './subscriptions.ts'
import { callTasks, serveTasks } from './tasks.ts'
import type { ToolCalls } from './tool-calls.ts'
import { serveTools, type ToolCatalogue } from './tools.ts'

export interface ServerFactoryOptions {
  readonly info: Implementation
  /** Tools exposed to an HTTP request, as its headers restrict them. */
  readonly exposureFor: ExposureOfRequest
  /** The session for a request's credential; without one, for the server's own API key. */
  readonly sessionFor: (credential: Credential | undefined) => Session
  readonly catalogueOf: (exposure: Exposure) => ToolCatalogue
  readonly prompts: readonly Prompt[]
  readonly skills: readonly Skill[]
  readonly toolCalls: ToolCalls
  readonly confirmations: Confirmations
  readonly cancellations: Cancellations
  readonly cancelledTasks: CancelledTasks
  readonly callTaskView: CallTaskView
  readonly onBug: (error: unknown) => void
  readonly observer?: Observer | undefined
  /**
   * True if the stdio handshake has answered and recorded the request, before the SDK received it.
   */
  readonly isAnswered?: ((id: RequestId) => boolean) | undefined
}

/**
 * Creates an MCP SDK server for each HTTP request and each stdio connection. That only binds
 * handlers to a session; everything else is created once and shared.
 */
export function createServerFactory(options: ServerFactoryOptions) {
  return ({ era: sdkProtocol, authInfo, requestInfo }: McpRequestContext): Server => {
    const protocol: Protocol = sdkProtocol === 'modern' ? 'modern' : '2025'
    const header: GetHeader = (name) => requestInfo?.headers.get(name) ?? undefined
    const credential = credentialOf(authInfo)
    const requested = options.exposureFor(header)
    // The transport has already refused requests whose headers are wrong.
    if (!requested.ok) throw new Error(`The transport let a request through: ${requested.message}`)
    const exposure = scopedExposure(requested.exposure, credential?.scopes)
    const request: ServedRequest = {
      session: options.sessionFor(credential),
      exposure,
      header,
      transport: requestInfo === undefined ? 'stdio' : 'http',
      isStatelessLegacy: protocol === '2025' && requestInfo !== undefined,
    }
    const catalogue = options.catalogueOf(exposure)
    const { session, isStatelessLegacy, transport } = request
    const legacy = isStatelessLegacy ? catalogue.statelessLegacy : catalogue.legacy
    const contextOf = (revision: string | undefined): ObservedContext => ({
      ...{ keyHash: session.keyHash, protocol, transport, header, revision },
      isTool: (name) => catalogue.byName.has(name),
      isPrompt: (name) => options.prompts.some((prompt) => prompt.name === name),
    })
    const server = new ObservedServer(
      options.info,
      protocol === 'modern' ? catalogue.modern : legacy,
      { ...options, protocol, contextOf },
    )
    const readContext = { ...options, session: restrictedSession(session, exposure.tools) }
    serveTools(server, request, { ...options, catalogue })
    serveResources(server, request, readContext)
    servePrompts(server, readContext)
    serveSkills(server, readContext)
    if (protocol === 'modern')
      serveTasks(server, callTasks({ ...options, session, tools: exposure.tools }))
    if (isStatelessLegacy) serveCancellations(server, request, options.cancellations)
    else serveSubscriptions(server, readContext)
    return server
  }
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

interface Recording extends Pick<ServerFactoryOptions, 'isAnswered' | 'observer'> {
  readonly protocol: Protocol
  /** `revision`: negotiated by the connection. */
  readonly contextOf: (revision: string | undefined) => ObservedContext
}

/** The SDK's server. Rewrites errors before they are sent, and records requests. */
class ObservedServer extends Server {
  readonly #recording: Recording
  /** Ids of requests that reached a handler and whose answer is not sent yet. */
  readonly #handled = new Set<RequestId>()

  constructor(info: Implementation, options: ServerOptions, recording: Recording) {
    super(info, options)
    this.#recording = recording
  }

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      const sent = messageForClient(message, this.#recording.protocol)
      this.#recordRefusal(sent)
      return send(sent, options)
    }
    await super.connect(transport)
  }

  /**
   * Wraps each handler so that its requests are recorded. The SDK's constructor already calls this
   * method, so `#recording` may be read only when a request runs.
   */
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const run = super._wrapHandler(method, handler)
    return async (request, context) => {
      const { observer, contextOf, isAnswered } = this.#recording
      this.#handled.add(request.id)
      try {
        if (isAnswered?.(request.id)) return await run(request, context)
        const revision = this.getNegotiatedProtocolVersion()
        return await observedRequest(
          observer,
          request,
          () => contextOf(revision),
          () => run(request, context),
        )
      } finally {
        // A cancelled request gets no answer, so `send` would never remove its id.
        if (context.mcpReq.signal.aborted) this.#handled.delete(request.id)
      }
    }
  }

  /** Records a request that was refused with a code of JSON-RPC before a handler ran. */
  #recordRefusal(message: JSONRPCMessage): void {
    if ('method' in message || message.id === undefined) return
    if (this.#handled.delete(message.id) || !('error' in message)) return
    const { observer, contextOf } = this.#recording
    const context = () => contextOf(this.getNegotiatedProtocolVersion())
    requestRefused(observer, { method: 'unknown', id: message.id }, context, message.error.code)
  }
}
