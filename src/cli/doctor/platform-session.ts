import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { TLSSocket } from 'node:tls'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { createClient } from '../../platform/client.ts'
import {
  ApiError,
  type Failure,
  isCertificateProblem,
  SendFailure,
} from '../../platform/failure.ts'
import type { Send } from '../../platform/http-exchange.ts'
import { redactor, withRedactedReplies } from '../../platform/key-redaction.ts'
import type { WireReply } from '../../platform/reply.ts'
import { openPlatform } from '../../server/platform.ts'
import { isObject } from '../../text/json.ts'
import type { PlatformConfig } from '../config/platform.ts'
import type { PlatformCheckName } from './findings.ts'

type NetworkPlatform = Extract<PlatformConfig, { kind: 'network' }>

/** Result of one request. */
export interface Answer<T> {
  /** `undefined`: the request failed. */
  readonly value: T | undefined
  readonly failure: Failure | undefined
  /** `undefined`: no reply. */
  readonly reply: WireReply | undefined
  /** Duration, ms. */
  readonly ms: number
  /** Midpoint of the request by the local clock, ms since 1970. */
  readonly at: number
}

/** Access to the platform for the checks: the HTTP client of the tools, without retries. */
export type PlatformSession = Awaited<ReturnType<typeof openPlatformSession>>

/** Request timeout of the checks, ms, regardless of the settings. */
const longestMs = 20_000

export async function openPlatformSession(config: NetworkPlatform, version: string) {
  const { apiKey = '' } = config
  const userAgent = `voice-agent-mcp/${version}`
  const connections = watchConnections()
  const opened = await openPlatform(config, () => undefined)
  const send = withRedactedReplies(opened.send, redactor(apiKey))
  const call = <R extends Route>(route: R, request: RouteRequest) =>
    answerOf(send, (recorded) =>
      createClient({ send: recorded, apiKey, userAgent, ...once }).call(route, request),
    )
  /** Reads the account of the API key. */
  const askAgain = () => call(routes.accounts.current, { params: {}, query: {} })
  return {
    config,
    /** Result of the first request, which reads the account of the API key. */
    first: askAgain(),
    askAgain,
    /** Sends a request for an operation of the contract. */
    call,
    /** Reads a path outside the contract. With another `baseUrl`, the API key is not sent. */
    async get(target: string, baseUrl?: URL): Promise<Answer<WireReply>> {
      if (!baseUrl)
        return answerOf(send, (recorded) => recorded(request(target, userAgent, apiKey)))
      const other = await openPlatform({ ...config, baseUrl }, () => undefined)
      const answer = await answerOf(other.send, (recorded) => recorded(request(target, userAgent)))
      await other.close()
      return answer
    },
    connections,
    async close() {
      connections.stop()
      await opened.close()
    },
  }
}

const once = {
  retry: { maxAttempts: 1, firstWaitMs: 0, maxRetryAfterSeconds: 0 },
  totalTimeoutMs: longestMs,
}

const request = (target: string, userAgent: string, apiKey?: string) => ({
  method: 'GET' as const,
  target,
  headers: {
    ...(apiKey && { 'x-api-key': apiKey }),
    'user-agent': userAgent,
    accept: 'application/json',
    'accept-encoding': 'identity',
  },
  timeLeftMs: longestMs,
})

/**
 * Runs `work`, which sends one request, and returns its result, reply and duration. Rethrows errors
 * other than failed requests.
 */
async function answerOf<T>(send: Send, work: (recorded: Send) => Promise<T>): Promise<Answer<T>> {
  let reply: WireReply | undefined
  const recorded: Send = async (request) => {
    reply = await send(request)
    return reply
  }
  const started = performance.now()
  const [ended] = await Promise.allSettled([work(recorded)])
  const ms = performance.now() - started
  const facts = { ms, at: Date.now() - ms / 2, reply }
  if (ended.status === 'fulfilled') return { value: ended.value, failure: undefined, ...facts }
  const { reason } = ended
  if (!(reason instanceof ApiError || reason instanceof SendFailure)) throw reason
  return { value: undefined, failure: reason.failure, ...facts }
}

/** Stage at which a request can fail, named by the check that reports it. */
type Stage = Extract<PlatformCheckName, 'dns' | 'proxy' | 'tls' | 'platform'>

/** Stage at which the first request failed; `undefined`: the API has answered. */
export async function failedStage(session: PlatformSession): Promise<Stage | undefined> {
  const { failure } = await session.first
  if (failure === undefined) return undefined
  if (failure.kind === 'rejected') return isRefusalOfApi(failure.status) ? undefined : 'platform'
  if (failure.kind === 'timeout' && isHeldByProxy(session)) return 'proxy'
  if (failure.kind !== 'network') return 'platform'
  const { code } = failure
  if (code.startsWith('PROXY_') || hasFailedAtProxy(session)) return 'proxy'
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code)) return 'dns'
  return isCertificateProblem(code) || /SSL|TLS|EPROTO/.test(code) ? 'tls' : 'platform'
}

/** Statuses with which the API refuses the API key, not the path. */
const isRefusalOfApi = (status: number) => [401, 402, 403, 429].includes(status)

/** Proxy host; `undefined`: no proxy. */
const proxyHost = ({ config }: PlatformSession): string | undefined =>
  config.proxy && new URL(config.proxy.url).hostname

const hasReached = ({ connections }: PlatformSession, host: string | undefined): boolean =>
  connections.made.some((one) => one.host === host)

const hasFailedAt = ({ connections }: PlatformSession, host: string | undefined): boolean =>
  connections.failed.some((one) => one === host)

/** True if a connection to the proxy was tried. Some hosts bypass the proxy. */
export const usesProxy = (session: PlatformSession): boolean =>
  hasReached(session, proxyHost(session)) || hasFailedAt(session, proxyHost(session))

const hasFailedAtProxy = (session: PlatformSession): boolean =>
  hasFailedAt(session, proxyHost(session)) && !hasReached(session, proxyHost(session))

/** True if the proxy accepted a connection, but did not connect to the platform. */
const isHeldByProxy = (session: PlatformSession): boolean =>
  hasReached(session, proxyHost(session)) && !hasReached(session, hostOf(session))

/** Platform host, without the brackets of an IPv6 address. */
export const hostOf = ({ config }: Pick<PlatformSession, 'config'>): string =>
  config.baseUrl.hostname.replace(/^\[|\]$/g, '')

/** An established connection. */
interface Connection {
  readonly host: string
  readonly tls: ReturnType<typeof tlsFacts>
}

/**
 * Records connections through undici's diagnostics channels. The checks thus see the connections of
 * real requests, also those through a proxy, and open none of their own.
 */
function watchConnections() {
  const made: Connection[] = []
  /** Hosts whose connection failed. */
  const failed: string[] = []
  const onConnected = (message: unknown) => {
    const socket = isObject(message) ? message.socket : undefined
    const tls = socket instanceof TLSSocket ? tlsFacts(socket) : undefined
    made.push({ host: connectedHost(message), tls })
  }
  const onFailed = (message: unknown) => void failed.push(connectedHost(message))
  subscribe('undici:client:connected', onConnected)
  subscribe('undici:client:connectError', onFailed)
  return {
    made,
    failed,
    stop() {
      unsubscribe('undici:client:connected', onConnected)
      unsubscribe('undici:client:connectError', onFailed)
    },
  }
}

function connectedHost(message: unknown): string {
  const params = isObject(message) ? message.connectParams : undefined
  return isObject(params) ? String(params.hostname) : ''
}

/**
 * The TLS version and certificate of a connection; `undefined` for a resumed session, which has no
 * certificate.
 */
function tlsFacts(socket: TLSSocket) {
  const { issuer, valid_to } = socket.getPeerCertificate()
  const validUntil = Date.parse(valid_to)
  if (Number.isNaN(validUntil)) return undefined
  return {
    /** TLS version, such as `TLSv1.3`. */
    protocol: socket.getProtocol() ?? 'TLS',
    issuer: [issuer.O ?? issuer.CN ?? 'unknown'].flat().join(', '),
    /** Expiry of the certificate, ms since 1970. */
    validUntil,
  }
}
