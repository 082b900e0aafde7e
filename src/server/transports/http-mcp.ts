import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeIncomingMessageLike, NodeMcpRequestHandler } from '@modelcontextprotocol/node'
import {
  type AuthInfo,
  INVALID_REQUEST,
  isInitializeRequest,
  isJsonContentType,
  type JSONRPCErrorResponse,
  type McpServerFactory,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import { connectingClient, newSession } from '../../mcp/client-of-request.ts'
import type { HttpFastPath } from '../../mcp/http-fast-path.ts'
import {
  anonymousError,
  batchError,
  batchRevision,
  checkMessage,
  maxBatchSize,
  parseMessage,
} from '../../mcp/message-check.ts'
import { type GetHeader, headerNames } from '../../mcp/messages.ts'
import { missingScopes, scopedExposure } from '../../mcp/oauth-scopes.ts'
import type { ObserveStream } from '../../mcp/observed-request.ts'
import { type ExposureOfRequest, waitsIn } from '../../mcp/request-exposure.ts'
import { watchedOnly } from '../../mcp/subscriptions.ts'
import { authInfoOf, type Credential } from '../../platform/sessions/credential.ts'
import type { AdmittedRequest } from './http-admission.ts'
import { refuse, sendJson, sendParts } from './http-answers.ts'
import {
  type Authorization,
  credentialOfToken,
  endWithToken,
  refuseScopes,
} from './http-authentication.ts'
import type { ActiveHttpLimits } from './http-limits.ts'

/** Functions of the service that /mcp needs. Made by `openService` in server/service.ts. */
export interface McpServing {
  /** Makes the MCP SDK's server for a request. */
  readonly factory: McpServerFactory
  /** Answers the most frequent requests without the MCP SDK. */
  readonly httpFastPath: HttpFastPath
  readonly exposureFor: ExposureOfRequest
  readonly observeStream: ObserveStream
  /** Reason why a request with this API key may not open a stream; `undefined` if it may. */
  readonly checkKey: (credential: Credential | undefined) => Promise<KeyProblem | undefined>
  /** Watches resources with the API key of the request, or the server's own. */
  readonly watch: (
    credential: Credential | undefined,
    uris: readonly string[],
    onUpdate: (uri: string) => void,
  ) => () => void
}

/** Reason why a request with an API key may not open a stream. */
export interface KeyProblem {
  readonly status: 401 | 503
  readonly message: string
}

export interface McpOptions {
  readonly authorization?: Authorization | undefined
  /** Called with a connecting client's own name, which is untrusted. */
  readonly onConnect?: ((name: string) => void) | undefined
}

/** Dependencies for answering requests to /mcp. */
export interface McpParts {
  readonly service: McpServing
  readonly options: McpOptions
  readonly serve: NodeMcpRequestHandler
  readonly serveStream: NodeMcpRequestHandler
  readonly bus: ResourceBus
  readonly limits: ActiveHttpLimits
}

/** Answers an admitted request to /mcp. Rejects when the client disconnects. */
export async function answerMcp(
  request: IncomingMessage & { auth?: AuthInfo },
  response: ServerResponse,
  admitted: AdmittedRequest,
  mcp: McpParts,
): Promise<void> {
  const { service, options } = mcp
  const authorized =
    admitted.accessToken === undefined ? admitted : await authorize(admitted, response, options)
  if (!authorized) return
  const { credential, header } = authorized
  if (credential) request.auth = authInfoOf(credential)
  // Node's type has optional fields as `undefined`; the MCP SDK's type omits them.
  const incoming = request as NodeIncomingMessageLike
  // The MCP SDK refuses other content types. Without a parsed body, it would read the body first.
  if (!isJsonContentType(request.headers['content-type']))
    return mcp.serve(incoming, response, null)
  const received = await receive(request, response, authorized, mcp)
  if (!received) return
  const { message } = received
  const missing = missingScopes(message, authorized.exposure, credential?.scopes)
  if (missing && options.authorization)
    return refuseScopes(response, missing, options.authorization)
  const exposure = scopedExposure(authorized.exposure, credential?.scopes)
  const signal = () => goneSignal(response)
  const answer = service.httpFastPath(message, { header, credential, exposure, signal })
  if (answer) return sendParts(response, await answer)
  const error = messageError(message, header)
  if (error) return sendJson(response, 400, error)
  if (isStream(header)) return openStream(incoming, response, message, authorized, mcp)
  const client = connectingClient(message)
  if (client !== undefined) options.onConnect?.(client)
  if (isInitializeRequest(message))
    response.setHeader(headerNames.session, newSession(message.params.capabilities))
  return mcp.serve(incoming, response, message)
}

/**
 * Adds the API key behind the access token. `undefined`: the token was refused and the request
 * answered, or the client has disconnected.
 */
async function authorize(
  admitted: AdmittedRequest,
  response: ServerResponse,
  { authorization }: McpOptions,
): Promise<AdmittedRequest | undefined> {
  const { accessToken = '', network } = admitted
  const own = authorization && (await credentialOfToken(accessToken, authorization, response))
  // The client may have disconnected while the state was read.
  if (!own || response.closed) return undefined
  return { ...admitted, credential: { ...own, clientNetwork: network } }
}

const isStream = (header: GetHeader) => header(headerNames.method) === 'subscriptions/listen'

/**
 * Reads and parses the body within the limits. `undefined`: the request was refused and answered.
 */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { credential, network, header, exposure }: AdmittedRequest,
  { limits }: McpParts,
): Promise<{ readonly message: unknown } | undefined> {
  const body = await limits.bodies.read(request, response)
  if (!body.ok) {
    // The rest of the body is not read, so the connection cannot be used again.
    response.setHeader('connection', 'close')
    return void refuse(response, body.status, body.message)
  }
  const what = isStream(header) ? 'streams' : 'requests'
  const key = credential?.apiKey ?? ''
  if (!limits.admits(what, { key, network }, response)) return undefined
  const parsed = parseMessage(body.bytes.toString('utf8'), 'The body of the request')
  const count = parsed.ok ? messageCount(parsed.value) : 1
  if (!limits.isWithinRate({ key, network, count }, response)) return undefined
  if (!parsed.ok) return void sendJson(response, 400, parsed.answer)
  const waits = waitsIn(parsed.value, exposure)
  if (waits > 0 && !limits.admits('waits', { key, network, count: waits }, response)) {
    return undefined
  }
  return { message: parsed.value }
}

/**
 * Number of requests that a body counts as in the rate limit: the messages of a batch, otherwise 1.
 */
const messageCount = (body: unknown) =>
  Array.isArray(body) ? Math.min(Math.max(body.length, 1), maxBatchSize) : 1

/** Error response to a body that is not a JSON-RPC message or batch. */
function messageError(message: unknown, header: GetHeader): JSONRPCErrorResponse | undefined {
  if (Array.isArray(message)) {
    // A request without the header has the revision that supports batches.
    return batchError(message, header(headerNames.protocolVersion) ?? batchRevision)
  }
  const checked = checkMessage(message)
  if (checked.ok) return undefined
  return checked.answer ?? anonymousError(INVALID_REQUEST, checked.reason)
}

/** Responds with a stream of changes to the resources that the message names. */
async function openStream(
  incoming: NodeIncomingMessageLike,
  response: ServerResponse,
  listening: unknown,
  { credential, accessToken, network, header }: AdmittedRequest,
  { service, options: { authorization }, serveStream, bus, limits }: McpParts,
): Promise<void> {
  const problem = await service.checkKey(credential)
  if (problem) return refuse(response, problem.status, problem.message)
  // The client disconnected during the check of its API key, so `close` will not fire again.
  if (response.closed) return
  if (accessToken !== undefined && authorization) endWithToken(response, accessToken, authorization)
  const closed = once(response, 'close').then(() => undefined)
  const { message, uris } = watchedOnly(listening)
  closed.then(limits.watched.add({ key: credential?.apiKey ?? '', network, uris }))
  // The stream lasts until the response closes, even if the MCP SDK finishes earlier.
  const serve = () =>
    Promise.race([serveStream(incoming, response, message).then(() => closed), closed])
  const open = () => bus.open((onUpdate) => service.watch(credential, uris, onUpdate), serve)
  const request = { credential, header, transport: 'http' } as const
  await service.observeStream(listening, request, open)
}

/** Fires when the client disconnects before the end of the response. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

type Listener = Parameters<ServerEventBus['subscribe']>[0]

/**
 * An event bus for the MCP SDK that delivers to each stream only events of its own resources,
 * because other API keys must not learn of them. The SDK subscribes a stream while it serves the
 * request that opens the stream, so the asynchronous context identifies the stream.
 */
type ResourceBus = ReturnType<typeof createResourceBus>

export function createResourceBus() {
  const opened = new AsyncLocalStorage<Set<Listener>>()
  const bus: ServerEventBus = {
    // Unused: no event is for all streams.
    publish: () => undefined,
    subscribe(listener) {
      const listeners = opened.getStore()
      listeners?.add(listener)
      return () => listeners?.delete(listener)
    },
  }
  return {
    bus,
    /**
     * Serves the request that opens a stream, and delivers the updates that `watch` reports to it.
     * Stops watching when `serve` settles.
     */
    async open(
      watch: (onUpdate: (uri: string) => void) => () => void,
      serve: () => Promise<void>,
    ): Promise<void> {
      const listeners = new Set<Listener>()
      const stop = watch((uri) => {
        for (const listener of listeners) listener({ kind: 'resource_updated', uri })
      })
      try {
        await opened.run(listeners, serve)
      } finally {
        stop()
      }
    },
  }
}
