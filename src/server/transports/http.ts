import {
  createServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { WatchLimitError } from '../../platform/sessions/watched-replies.ts'
import { type AdmissionOptions, createAdmission, isMcp } from './http-admission.ts'
import { refuse, refuseMethod, responseForClient, sendJson } from './http-answers.ts'
import { readKey } from './http-authentication.ts'
import { Connections } from './http-connection-flow.ts'
import { createLimits, type HttpLimits, maxBytes, refuseWatch } from './http-limits.ts'
import {
  answerMcp,
  createResourceBus,
  type McpOptions,
  type McpParts,
  type McpServing,
} from './http-mcp.ts'
import { type Listening, listen } from './listen.ts'
import { networkOf } from './quotas.ts'

/** Functions of the service that an HTTP server needs. */
export interface HttpServing extends McpServing {
  /** Checks the platform and the state. Never rejects. */
  readonly readiness: () => Promise<Readiness>
}

export interface HttpOptions extends AdmissionOptions, McpOptions {
  readonly port: number
  readonly limits: HttpLimits
  /**
   * Longest time that a stopping server waits for open requests, ms. Tool calls that wait for
   * telephone calls end at once.
   */
  readonly drainMs: number
  /** `undefined`: no pages for people. */
  readonly site?: Site | undefined
  readonly onError: (error: Error) => void
  /** Called with every response with a status of 400 or above, except to probes. */
  readonly onRefused?: ((refused: RefusedAnswer) => void) | undefined
}

/** State of a dependency. */
export type Reachability = 'ok' | 'unreachable'

/** Result of a readiness check, per dependency. */
export interface Readiness {
  readonly platform: Reachability
  readonly state: Reachability
}

/** Pages for people in a browser, beside MCP. */
export interface Site {
  /** True if the site has a page for the request. `path` has no query. */
  readonly serves: (path: string, request: IncomingMessage) => boolean
  readonly fetch: (request: Request) => Promise<Response>
}

interface RefusedAnswer {
  readonly status: number
  readonly durationMs: number
  /** API key of the request, valid or not. */
  readonly apiKey: string | undefined
}

/** Interval of the checks for slow clients, ms. */
const checkEveryMs = 500

/** Serves MCP over Streamable HTTP at /mcp. Throws ListenError. */
export async function startHttp(service: HttpServing, options: HttpOptions): Promise<Listening> {
  const { factory } = service
  const { onError } = options
  const bus = createResourceBus()
  const handler = createMcpHandler(factory, { onerror: onError })
  // Streams have their own handler: on shutdown they end first, while other requests are still
  // answered.
  const streams = createMcpHandler(factory, {
    bus: bus.bus,
    onerror: onError,
    maxSubscriptions: Number.POSITIVE_INFINITY,
  })
  const stop = new AbortController()
  const limits = createLimits(options.limits)
  const answer = requestHandler({
    ...{ service, options, limits, bus, stopping: stop.signal },
    serve: sdkHandler(handler, onError),
    serveStream: sdkHandler(streams, onError),
  })
  const bounds = { longestMs: options.limits.clientMs, maxBytes }
  const connections = new Connections(answer, bounds)
  const server = createServer(timeouts(options.limits), connections.take)
  const listening = await listen(server, options)
  const checking = setInterval(() => {
    limits.bodies.endLate()
    connections.cutSlow()
  }, checkEveryMs).unref()
  return {
    ...listening,
    async close() {
      stop.abort()
      await streams.close()
      const isAnswered = await Promise.race([
        connections.idle().then(() => true),
        sleep(options.drainMs, false, { ref: false }),
      ])
      await listening.close(isAnswered ? undefined : 0)
      await handler.close()
      clearInterval(checking)
    },
  }
}

/** Dependencies for answering all requests. */
interface HttpParts extends McpParts {
  readonly service: HttpServing
  readonly options: HttpOptions
  /** Aborted when the server is stopping. */
  readonly stopping: AbortSignal
}

/** Routes probes, the authorization server, pages and MCP. */
function requestHandler(parts: HttpParts) {
  const { service, options, limits, stopping } = parts
  const { authorization, site, onRefused } = options
  const admission = createAdmission(options, service.exposureFor)

  /** Serves a request without a key, within the limits for such requests. */
  async function serveUnkeyed(
    to: 'oauth' | 'site',
    request: IncomingMessage,
    response: ServerResponse,
    serve: (address: string) => Promise<void>,
  ) {
    const address = admission.ofPage(request, response)
    if (address === undefined) return
    if (limits.admitsUnkeyed(to, networkOf(address), response)) await serve(address)
  }

  async function answerAt(path: string, request: IncomingMessage, response: ServerResponse) {
    if (authorization?.serves(path)) {
      return serveUnkeyed('oauth', request, response, (address) =>
        authorization.serve(request, response, address),
      )
    }
    if (site && isMcp(path) && wantsPage(request)) {
      return serveUnkeyed('site', request, response, async () => {
        // Relative, because a proxy may add a path prefix.
        const location = path.endsWith('/') ? '../' : './'
        response.writeHead(302, { location, vary: 'accept' }).end()
      })
    }
    if (site && !isMcp(path) && site.serves(path, request)) {
      return serveUnkeyed('site', request, response, () => servePage(request, response, site))
    }
    const admitted = admission.ofMcp(path, request, response)
    if (admitted) await answerMcp(request, response, admitted, parts)
  }

  return (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.split('?')[0] ?? ''
    if (probePaths.has(path)) return void answerProbe(path, request, response, parts)
    if (onRefused) reportRefusal(request, response, onRefused)
    if (stopping.aborted) return refuseWhileStopping(response)
    answerAt(path, request, response).catch((error: Error) => {
      if (request.readableAborted) return
      if (error instanceof WatchLimitError) return refuseWatch(response, error)
      options.onError(error)
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'The server failed.')
    })
  }
}

/** True if a browser has opened /mcp. MCP clients accept `text/event-stream`, browsers do not. */
function wantsPage({ method = '', headers: { accept = '' } }: IncomingMessage): boolean {
  const isReading = method === 'GET' || method === 'HEAD'
  return isReading && accept.includes('text/html') && !accept.includes('text/event-stream')
}

function reportRefusal(
  { headersDistinct }: IncomingMessage,
  response: ServerResponse,
  onRefused: (refused: RefusedAnswer) => void,
): void {
  const began = performance.now()
  response.once('close', () => {
    const { statusCode: status, headersSent } = response
    // Without headers, the client disconnected before the response: nothing was refused.
    if (!headersSent || status < 400) return
    const key = readKey(headersDistinct)
    const apiKey = key.ok ? key.credential?.apiKey : undefined
    onRefused({ status, durationMs: performance.now() - began, apiKey })
  })
}

/**
 * Refuses a request during shutdown, with a status that makes clients and load balancers retry.
 * Open requests are still answered. Connections are still accepted, so that probes get an answer.
 */
function refuseWhileStopping(response: ServerResponse): void {
  // The next request on this connection would also be refused.
  response.setHeader('connection', 'close')
  refuse(response, 503, 'The server is stopping. Nothing was done: send the request again.')
}

const probePaths: ReadonlySet<string> = new Set(['/healthz', '/health', '/readyz'])

/**
 * Answers the probes of load balancers and orchestrators. `/healthz` (and `/health`) succeeds while
 * the process serves, `/readyz` while it should get requests. The responses contain no private
 * data, so Host and Origin are not checked.
 */
async function answerProbe(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  { service, stopping }: HttpParts,
): Promise<void> {
  if (!['GET', 'HEAD'].includes(request.method ?? '')) return refuseMethod(response, 'GET, HEAD')
  if (path !== '/readyz') return sendJson(response, 200, { status: 'ok' })
  if (stopping.aborted) return sendJson(response, 503, { status: 'stopping' })
  // Without its state, the server still reads and changes objects, and refuses only telephone calls
  // and confirmations. `?state=optional` counts such a server as ready.
  const query = new URLSearchParams(request.url?.split('?')[1])
  const isStateOptional = query.get('state') === 'optional'
  const { platform, state } = await service.readiness()
  const isReady = platform === 'ok' && (isStateOptional || state === 'ok')
  const status = isReady ? 'ready' : 'not ready'
  sendJson(response, isReady ? 200 : 503, { status, platform, state })
}

async function servePage(
  request: IncomingMessage,
  response: ServerResponse,
  site: Site,
): Promise<void> {
  const { getRequestListener, RequestError } = await import('@hono/node-server')
  let failure: unknown
  const listener = getRequestListener(site.fetch, {
    // Keeps Node's global classes.
    overrideGlobalObjects: false,
    errorHandler(error) {
      // The Host header or the target of the request is not valid.
      if (error instanceof RequestError) return new Response(null, { status: 400 })
      failure = error
      return new Response('The page failed.', { status: 500 })
    },
  })
  await listener(request, response)
  if (failure !== undefined) throw failure
}

/** Node's request timeouts. Longer than this server's own timeouts, which send a response. */
const timeouts = ({ clientMs }: HttpLimits): ServerOptions => ({
  headersTimeout: clientMs,
  requestTimeout: clientMs + 5000,
  connectionsCheckingInterval: 1000,
})

/** Answers with the MCP SDK. Its refusals get this server's error messages. */
const sdkHandler = (handler: McpHttpHandler, onError: HttpOptions['onError']) =>
  toNodeHandler(
    { ...handler, fetch: async (...given) => responseForClient(await handler.fetch(...given)) },
    { onerror: onError },
  )
