import {
  createServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { McpService } from '../../mcp/mcp-service.ts'
import { WatchLimitError } from '../../platform/sessions/watched-replies.ts'
import { type AdmissionOptions, createAdmission } from './http-admission.ts'
import { endsWithin, refuse, refuseWhileStopping, responseForClient } from './http-answers.ts'
import { answerAuthorization } from './http-authorization.ts'
import { createLimits, type HttpLimits, refuseWatch } from './http-limits.ts'
import { answerMcp, type McpParts, type StreamOptions } from './http-mcp.ts'
import { isProbePath } from './http-probes.ts'
import { answerSite } from './http-site.ts'
import { readKey } from './key.ts'
import { type Listening, listen } from './listen.ts'
import { createResourceBus } from './subscriptions.ts'

export interface HttpOptions
  extends Omit<AdmissionOptions, 'exposureFor' | 'isDraining'>,
    StreamOptions {
  readonly port: number
  readonly limits: HttpLimits
  /** The longest time, ms, for requests under way when the server stops. Waits end at once. */
  readonly drainMs: number
  readonly onError: (error: Error) => void
  /** Called with every answer with a status from 400 on, except to probes. */
  readonly onRefused?: ((refused: RefusedAnswer) => void) | undefined
}

export interface RefusedAnswer {
  readonly status: number
  readonly durationMs: number
  /** The key that the request brought, valid or not. */
  readonly apiKey: string | undefined
}

/** Serves MCP over Streamable HTTP at /mcp. Throws ListenError. */
export async function startHttp(
  { factory, httpFastPath, exposureFor, observeStream }: Omit<McpService, 'callLocally'>,
  options: HttpOptions,
): Promise<Listening> {
  const { onError } = options
  const bus = createResourceBus()
  const handler = createMcpHandler(factory, { onerror: onError })
  // A handler of their own: streams are ended first, while other requests are answered.
  const streams = createMcpHandler(factory, {
    bus: bus.bus,
    onerror: onError,
    maxSubscriptions: Number.POSITIVE_INFINITY,
  })
  let isDraining = false
  const limits = limitedServing(
    { ...options, exposureFor, isDraining: () => isDraining },
    {
      httpFastPath,
      observeStream,
      bus,
      serve: sdkHandler(handler, onError),
      serveStream: sdkHandler(streams, onError),
    },
  )
  const listening = await listen(createServer(timeouts(options.limits), limits.take), options)
  return {
    ...listening,
    async close() {
      isDraining = true
      await streams.close()
      const isAnswered = await endsWithin(limits.answered(), options.drainMs)
      await listening.close(isAnswered ? undefined : 0)
      await handler.close()
      limits.close()
    },
  }
}

/** Answers requests within the limits. */
function limitedServing(options: HttpOptions & AdmissionOptions, parts: Omit<McpParts, 'limits'>) {
  const admit = createAdmission(options)
  const limits = createLimits(options.limits, (request, response) => {
    const { onRefused, isDraining } = options
    if ((onRefused || isDraining()) && !isProbePath(request.url?.split('?')[0])) {
      if (onRefused) reportRefusal(request, response, onRefused)
      if (isDraining()) return refuseWhileStopping(response)
    }
    const admitted = admit(request, response)
    if (!admitted) return
    const answering =
      'authorization' in admitted
        ? answerAuthorization(request, response, { ...admitted, limits })
        : 'site' in admitted
          ? answerSite(request, response, { ...admitted, limits })
          : answerMcp(request, response, { ...parts, ...admitted, options, limits })
    answering.catch((error: Error) => {
      if (request.readableAborted) return
      if (error instanceof WatchLimitError) return refuseWatch(response, error)
      options.onError(error)
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'The server failed.')
    })
  })
  return limits
}

function reportRefusal(
  { headersDistinct }: IncomingMessage,
  response: ServerResponse,
  onRefused: (refused: RefusedAnswer) => void,
): void {
  const began = performance.now()
  response.once('close', () => {
    const { statusCode: status, headersSent } = response
    // Without headers the client left before it was answered: nothing was refused.
    if (!headersSent || status < 400) return
    const key = readKey(headersDistinct)
    const apiKey = key.ok ? key.credential?.apiKey : undefined
    onRefused({ status, durationMs: performance.now() - began, apiKey })
  })
}

/** How long Node waits for a request: longer than this server, which answers a late one. */
const timeouts = ({ clientMs }: HttpLimits): ServerOptions => ({
  headersTimeout: clientMs,
  requestTimeout: clientMs + 5000,
  connectionsCheckingInterval: 1000,
})

/** Answers with the SDK, in the words of this server where the SDK refuses a request. */
const sdkHandler = (handler: McpHttpHandler, onError: HttpOptions['onError']) =>
  toNodeHandler(
    { ...handler, fetch: async (...given) => responseForClient(await handler.fetch(...given)) },
    { onerror: onError },
  )
