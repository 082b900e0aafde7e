import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import {
  type NodeIncomingMessageLike,
  type NodeMcpRequestHandler,
  toNodeHandler,
} from '@modelcontextprotocol/node'
import {
  type AuthInfo,
  createMcpHandler,
  INVALID_REQUEST,
  isInitializeRequest,
  isJsonContentType,
  type JSONRPCErrorResponse,
  type McpHttpHandler,
} from '@modelcontextprotocol/server'
import type { McpService } from '../mcp/mcp-service.ts'
import { sessionHeader } from '../mcp/protocol/cancellation.ts'
import { errorResponse, judge } from '../mcp/protocol/json-rpc.ts'
import type { GetHeader } from '../mcp/protocol/request-exposure.ts'
import { authInfoOf, type Credential } from '../session/credential.ts'
import type { KeyFault } from '../session/key-fault.ts'
import { WatchLimitError } from '../session/watched-replies.ts'
import { batchFault, batchRevision } from './batches.ts'
import { refuse, refuseMethod, responseForClient, sendJson, sendText } from './http-answers.ts'
import { createLimits, type HttpLimits, refuseWatch } from './http-limits.ts'
import { allowPage, type Sources, sourceCheck } from './http-source.ts'
import { readKey } from './key.ts'
import { type Listening, listen } from './listen.ts'
import { type OwnKey, ownKeyCheck } from './own-key.ts'
import { parseMessage } from './parse-message.ts'
import { createResourceBus, onlyWatched, type Watch, wantedResources } from './subscriptions.ts'

export interface HttpOptions extends Sources {
  readonly port: number
  /** Which requests without a key are served, with the operator's key or the sandbox's. */
  readonly ownKey: OwnKey
  /** Why a request cannot have what its headers want of the tools; `undefined` where it can. */
  readonly refusalOf: (header: GetHeader) => string | undefined
  /** Why a request with this key may hold nothing, such as a stream; `undefined` where it may. */
  readonly faultOfKey: (credential: Credential | undefined) => Promise<KeyFault | undefined>
  /** Watches resources with the key of a request, or the operator's. */
  readonly watch: (
    credential: Credential | undefined,
    uris: readonly string[],
    onUpdate: (uri: string) => void,
  ) => () => void
  readonly limits: HttpLimits
  readonly onError: (error: Error) => void
}

/** The longest that a request takes which is not ended when the server stops: placing a call, ms. */
const longestAnswerMs = 60_000

/** Serves MCP over Streamable HTTP at /mcp. Throws ListenError. */
export async function startHttp(
  { factory, httpFastPath }: McpService,
  options: HttpOptions,
): Promise<Listening> {
  const resources = createResourceBus()
  const handler = createMcpHandler(factory, { onerror: options.onError })
  // Apart from the rest, to be ended while other requests are answered to the end.
  const streams = createMcpHandler(factory, {
    bus: resources.bus,
    onerror: options.onError,
    maxSubscriptions: Number.POSITIVE_INFINITY,
  })
  const serve = atLength(handler, options)
  const serveStream = atLength(streams, options)
  const refusalOfSource = sourceCheck(options)
  const refusalOfOwnKey = ownKeyCheck(options.ownKey, options.allowedOrigins)

  const answer = async (
    request: IncomingMessage & { auth?: AuthInfo },
    response: ServerResponse,
  ) => {
    const path = request.url?.split('?')[0]
    if (path === '/health') return sendHealth(request, response)
    if ((request.headersDistinct.host?.length ?? 0) > 1) {
      return refuse(response, 400, 'The request has more than one Host header.')
    }
    const foreign = refusalOfSource(request.headers)
    if (foreign) return refuse(response, 403, foreign)
    allowPage(request, response)
    if (path !== '/mcp' && path !== '/mcp/') {
      return sendJson(response, 404, { error: 'MCP is at /mcp. Nothing else is here but /health.' })
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204, { allow }).end()
    const key = readKey(request.headersDistinct)
    if (!key.ok) return refuse(response, key.status, key.message)
    if (key.credential) request.auth = authInfoOf(key.credential)
    else {
      const refused = refusalOfOwnKey({ headers: request.headers, tokens: key.tokens })
      if (refused) return refuse(response, refused.status, refused.message)
    }
    const header: GetHeader = (name) => request.headersDistinct[name.toLowerCase()]?.join(', ')
    const refusal = options.refusalOf(header)
    if (refusal) return refuse(response, 400, refusal)
    if (request.method !== 'POST') return refuseMethod(response, allow)
    // Node's own type, whose optional fields say undefined where the SDK's say absent.
    const incoming = request as NodeIncomingMessageLike
    if (!isJsonContentType(request.headers['content-type'])) {
      // Refused by the SDK, which would read the body first if it were not given one.
      return serve(incoming, response, null)
    }
    const body = await limits.bodies.read(request, response)
    if (!body.ok) {
      // What is left of it is not read, so nothing else can come on this connection.
      response.setHeader('connection', 'close')
      return refuse(response, body.status, body.message)
    }
    const isStream = request.headers['mcp-method'] === 'subscriptions/listen'
    const what = isStream ? 'streams' : 'requests'
    if (!limits.admits(what, key.credential?.apiKey ?? '', request, response)) return
    const read = parseMessage(body.bytes.toString('utf8'), 'The body of the request')
    if (!read.ok) return refuse(response, 400, read.error.message, read.error.code)
    const message = read.value
    const answered = httpFastPath(message, {
      header,
      credential: key.credential,
      signal: () => goneSignal(response),
    })
    if (answered !== undefined) return sendText(response, await answered)
    const fault = faultOf(message, header)
    if (fault) return sendJson(response, 400, fault)
    if (isInitializeRequest(message)) response.setHeader(sessionHeader, randomUUID())
    if (!isStream) return serve(incoming, response, message)
    const keyFault = await options.faultOfKey(key.credential)
    if (keyFault) return refuse(response, keyFault.status, keyFault.message)
    const watch: Watch = (uris, onUpdate) => options.watch(key.credential, uris, onUpdate)
    const closed = once(response, 'close').then(() => undefined)
    await resources.open(watch, wantedResources(message), () =>
      // The stream lasts as long as the response does, whenever the SDK is done with the request.
      Promise.race([
        serveStream(incoming, response, onlyWatched(message)).then(() => closed),
        closed,
      ]),
    )
  }
  const limits = createLimits(options.limits, (request, response) => {
    answer(request, response).catch((error: Error) => {
      if (request.readableAborted) return
      if (error instanceof WatchLimitError) return refuseWatch(response, error)
      options.onError(error)
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'The server failed.')
    })
  })
  const server = createServer(receiving(options.limits), limits.take)
  const listening = await listen(server, options)
  return {
    ...listening,
    async close() {
      await streams.close()
      await listening.close(longestAnswerMs)
      await handler.close()
      limits.close()
    },
  }
}

/** How long Node waits for a request: a body that takes longer is refused before, with an answer. */
const receiving = ({ clientMs }: HttpLimits): ServerOptions => ({
  headersTimeout: clientMs,
  requestTimeout: clientMs + 5000,
  connectionsCheckingInterval: 1000,
})

/** Methods of /mcp. There are no streams to GET and no sessions to DELETE. */
const allow = 'POST, OPTIONS'

/**
 * For load balancers, which may know this machine by any name, and which are told nothing that is
 * anybody's: neither Host nor Origin is looked at.
 */
function sendHealth({ method = '' }: IncomingMessage, response: ServerResponse): void {
  if (['GET', 'HEAD'].includes(method)) sendJson(response, 200, { status: 'ok' })
  else refuseMethod(response, 'GET, HEAD')
}

/** Why a body is no message or batch of the protocol, as a response; the rest is the SDK's to judge. */
function faultOf(message: unknown, header: GetHeader): JSONRPCErrorResponse | undefined {
  if (Array.isArray(message)) {
    // Without the header the protocol takes the revision that has batches.
    const fault = batchFault(message, header('mcp-protocol-version') ?? batchRevision)
    return fault === undefined ? undefined : invalidRequest(fault)
  }
  const judged = judge(message)
  return judged.ok ? undefined : (judged.answer ?? invalidRequest(judged.reason))
}

const invalidRequest = (message: string) => errorResponse(null, { code: INVALID_REQUEST, message })

/** Answers with the SDK. */
const atLength = (handler: McpHttpHandler, { onError }: HttpOptions): NodeMcpRequestHandler =>
  toNodeHandler(
    { ...handler, fetch: async (...given) => responseForClient(await handler.fetch(...given)) },
    { onerror: onError },
  )

/** Fires when a response can no longer be finished, because the client has gone. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}
