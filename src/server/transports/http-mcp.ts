import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeIncomingMessageLike, NodeMcpRequestHandler } from '@modelcontextprotocol/node'
import {
  type AuthInfo,
  INVALID_REQUEST,
  isInitializeRequest,
  isJsonContentType,
  type JSONRPCErrorResponse,
} from '@modelcontextprotocol/server'
import { newSession } from '../../mcp/clients.ts'
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
import type { ObserveStream } from '../../mcp/observed-request.ts'
import { missingScopes, waitsIn } from '../../mcp/request-exposure.ts'
import type { KeyFault } from '../../platform/sessions/account.ts'
import { authInfoOf, type Credential } from '../../platform/sessions/session.ts'
import type { AdmittedRequest } from './http-admission.ts'
import { refuse, sendJson, sendParts } from './http-answers.ts'
import { endWithToken, refuseScopes, requestWithToken } from './http-authorization.ts'
import type { ActiveHttpLimits } from './http-limits.ts'
import type { Authorization } from './key.ts'
import { type ResourceBus, type Watch, watchedPart } from './subscriptions.ts'

export interface StreamOptions {
  readonly authorization?: Authorization | undefined
  /** Why a request with this key may open no stream; `undefined` where it may. */
  readonly faultOfKey: (credential: Credential | undefined) => Promise<KeyFault | undefined>
  /** Watches resources with the key of a request, or the operator's. */
  readonly watch: (
    credential: Credential | undefined,
    uris: readonly string[],
    onUpdate: (uri: string) => void,
  ) => () => void
}

/** What the server answers its requests with. */
export interface McpParts {
  readonly httpFastPath: HttpFastPath
  readonly observeStream: ObserveStream
  /** The SDK's handlers. */
  readonly serve: NodeMcpRequestHandler
  readonly serveStream: NodeMcpRequestHandler
  readonly bus: ResourceBus
  readonly limits: ActiveHttpLimits
}

interface McpRequest extends McpParts, AdmittedRequest {
  readonly options: StreamOptions
}

/** Answers a request to /mcp whose headers are checked. Rejects when the client breaks off. */
export async function answerMcp(
  request: IncomingMessage & { auth?: AuthInfo },
  response: ServerResponse,
  admitted: McpRequest,
): Promise<void> {
  const allowed = await requestWithToken(admitted, response)
  // The client may have gone while the state was asked.
  if (!allowed || response.closed) return
  const { credential, exposure } = allowed
  const mcp = { ...admitted, credential }
  const { header, httpFastPath, serve, options } = mcp
  if (credential) request.auth = authInfoOf(credential)
  // Node's own type says `undefined` for optional fields where the SDK's type says absent.
  const incoming = request as NodeIncomingMessageLike
  // The SDK refuses this. It would read the body first if it were not given one.
  if (!isJsonContentType(request.headers['content-type'])) return serve(incoming, response, null)
  const isStream = header(headerNames.method) === streamMethod
  const received = await receive(request, response, { ...mcp, isStream })
  if (!received) return
  const { message } = received
  const missing = missingScopes(message, admitted.exposure, credential?.scopes)
  if (missing && options.authorization)
    return refuseScopes(response, missing, options.authorization)
  const signal = () => goneSignal(response)
  const answer = httpFastPath(message, { header, credential, exposure, signal })
  if (answer) return sendParts(response, await answer)
  const error = messageError(message, header)
  if (error) return sendJson(response, 400, error)
  if (isStream) return openStream(incoming, response, message, mcp)
  if (isInitializeRequest(message))
    response.setHeader(headerNames.session, newSession(message.params.capabilities))
  return serve(incoming, response, message)
}

/** The method whose answer is a stream. */
const streamMethod = 'subscriptions/listen'

/** Reads and parses the body within the limits; answers a request that is refused. */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { credential, network, exposure, limits, isStream }: McpRequest & { readonly isStream: boolean },
): Promise<{ readonly message: unknown } | undefined> {
  const body = await limits.bodies.read(request, response)
  if (!body.ok) {
    // The rest of the body is not read, so the connection cannot be used again.
    response.setHeader('connection', 'close')
    return void refuse(response, body.status, body.message)
  }
  const what = isStream ? 'streams' : 'requests'
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

/** How many requests a body counts as: a batch counts as its messages, as far as they are served. */
const messageCount = (body: unknown) =>
  Array.isArray(body) ? Math.min(Math.max(body.length, 1), maxBatchSize) : 1

/** The error response to a body that is not a message or batch of JSON-RPC. */
function messageError(message: unknown, header: GetHeader): JSONRPCErrorResponse | undefined {
  if (Array.isArray(message)) {
    // A request without the header is of the revision that has batches.
    return batchError(message, header(headerNames.protocolVersion) ?? batchRevision)
  }
  const checked = checkMessage(message)
  if (checked.ok) return undefined
  return checked.answer ?? anonymousError(INVALID_REQUEST, checked.reason)
}

/** Answers with a stream of changes of the resources that the message names. */
async function openStream(
  incoming: NodeIncomingMessageLike,
  response: ServerResponse,
  message: unknown,
  mcp: McpRequest,
): Promise<void> {
  const {
    credential,
    accessToken,
    header,
    network,
    serveStream,
    observeStream,
    bus,
    limits,
    options,
  } = mcp
  const fault = await options.faultOfKey(credential)
  if (fault) return refuse(response, fault.status, fault.message)
  // The client went while its key was checked: there is no event to wait for any more.
  if (response.closed) return
  const { authorization } = options
  if (accessToken !== undefined && authorization) endWithToken(response, accessToken, authorization)
  const watch: Watch = (uris, onUpdate) => options.watch(credential, uris, onUpdate)
  const closed = once(response, 'close').then(() => undefined)
  const { uris, message: watched } = watchedPart(message)
  closed.then(limits.watched.add({ key: credential?.apiKey ?? '', network, uris }))
  // The stream lasts until the response is closed, also if the SDK is done with it before.
  const serve = () =>
    Promise.race([serveStream(incoming, response, watched).then(() => closed), closed])
  const open = () => bus.open(watch, uris, serve)
  const request = { credential, header, transport: 'http' } as const
  await observeStream(message, request, open)
}

/** Fires when the client goes before it has the whole response. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}
