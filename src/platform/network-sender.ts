import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { type ConcurrencyBounds, ConcurrencyLimit, type Requester } from './concurrency-limit.ts'
import { type Failure, type Redirected, SendFailure } from './failure.ts'
import {
  exchange,
  type RequestDeadline,
  type RequestTimeLimits,
  type Send,
  startRequestDeadline,
  type WireRequest,
} from './http-exchange.ts'
import type { WireReply } from './reply.ts'

interface NetworkOptions extends RequestTimeLimits {
  /** Origin of the platform, with an optional path prefix. */
  readonly baseUrl: URL
  /** Maximum concurrent requests, and thereby connections. */
  readonly concurrency: ConcurrencyBounds
  /** Proxy for https, from the environment. Loopback addresses and http bypass the proxy. */
  readonly proxy: { readonly url: string; readonly except: string } | undefined
}

/** A network sender: a pool of keep-alive connections to one origin. */
export interface NetworkSender {
  /** Address of the platform, without a slash at its end. */
  readonly address: string
  send: Send
  close(): Promise<void>
}

/** Maximum redirects followed within the origin. */
const maxRedirects = 3

/** A platform's address as text, without a slash at its end. */
export const addressOf = ({ origin, pathname }: URL): string => origin + pathname.replace(/\/$/, '')

/** Creates a sender. It connects with the first request. */
export function createNetworkSender(options: NetworkOptions): NetworkSender {
  const pool = openPool(options)
  const limit = new ConcurrencyLimit(options.concurrency)
  const address = addressOf(options.baseUrl)
  return {
    address,
    async send(request) {
      // Joined as text, because `//host/…` resolved against the origin would lead to another host.
      const url = new URL(address + request.target)
      return sendTo({ pool, limit }, url, request, options)
    },
    close: () => pool.destroy(),
  }
}

async function sendTo(
  { pool, limit }: { readonly pool: Dispatcher; readonly limit: ConcurrencyLimit },
  url: URL,
  request: WireRequest,
  options: NetworkOptions,
): Promise<WireReply> {
  const deadline = startRequestDeadline(request, options)
  const requester = { key: request.headers['x-api-key'] ?? '', network: request.clientNetwork }
  let isAdmitted = false
  try {
    await admitted(requester, limit, deadline)
    isAdmitted = true
    await readyToSend(request, deadline)
    const visited = [url]
    for (let target = url; ; visited.push(target)) {
      const reply = await exchange(pool, target, request, deadline)
      const next = redirectOf(reply, visited, request)
      if (!next) return reply
      target = next
    }
  } catch (error) {
    throw new SendFailure(failureOf(error, deadline))
  } finally {
    deadline.end()
    if (isAdmitted) limit.release(requester)
  }
}

/**
 * Runs `beforeSending`. This wait counts towards the request's deadline. After the deadline,
 * `exchange` sends nothing.
 */
function readyToSend({ beforeSending }: WireRequest, deadline: RequestDeadline): Promise<void> {
  if (!beforeSending) return Promise.resolve()
  return new Promise((resolve, reject) => {
    deadline.onFailure = reject
    beforeSending().then(resolve, reject)
  })
}

/**
 * Waits until the concurrency limit admits the request. This wait counts towards the request's
 * deadline.
 */
function admitted(
  requester: Requester,
  limit: ConcurrencyLimit,
  deadline: RequestDeadline,
): Promise<void> {
  if (deadline.failure) return Promise.reject(deadline.failure)
  return new Promise((resolve, reject) => {
    const giveUp = limit.acquire(requester, resolve)
    deadline.onFailure = (failure) => {
      giveUp?.()
      reject(failure)
    }
  })
}

/**
 * Target of a redirect to follow; null for other replies. Follows only within the origin, because
 * the API key is sent nowhere else, and only if the request may be sent twice (RFC 9110 §15.4).
 */
function redirectOf(reply: WireReply, visited: readonly URL[], request: WireRequest): URL | null {
  const from = visited.at(-1)
  if (reply.status < 300 || reply.status > 399 || !from) return null
  const location = reply.header('location')
  const to = location ? URL.parse(location, from.href) : null
  const refuse = (reason: Redirected['reason']) =>
    new SendFailure({ kind: 'redirected', status: reply.status, origin: to?.origin ?? '', reason })
  if (!to) throw refuse('nowhere')
  if (to.origin !== from.origin) throw refuse('elsewhere')
  // A POST may already have created something, so it is not sent again, not even for 307 and 308.
  const isRepeatable =
    request.method === 'GET' ||
    (request.method !== 'POST' && (reply.status === 307 || reply.status === 308))
  if (!isRepeatable) throw refuse('not_repeatable')
  const isCircle = visited.some(({ href }) => href === to.href)
  if (isCircle || visited.length > maxRedirects) throw refuse('too_many')
  return to
}

/**
 * Error codes that mean there was no connection, so nothing was sent. Certificate errors are
 * included, because they end the handshake before the request.
 */
const neverConnected =
  /^(EMFILE|ENFILE|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_CONN|PROXY_\d+|.*CERT.*|UNABLE_TO_.*)$/

function failureOf(error: unknown, deadline: RequestDeadline): Failure {
  if (deadline.failure) return deadline.failure.failure
  if (error instanceof SendFailure) return error.failure
  const code = isNoHttp(error) ? 'NO_HTTP' : (proxyRefusal(error) ?? errorCode(error))
  // An error without a code is a bug in this program and must not look like a network failure.
  const isOurs = code === null || /^(UND_ERR_INVALID_ARG|ERR_(?!TLS|SSL))/.test(code)
  if (isOurs) throw error
  return { kind: 'network', code, maybeSent: !neverConnected.test(code) }
}

/** True if the reply is not HTTP. */
const isNoHttp = (error: unknown) => error instanceof Error && error.name === 'HTTPParserError'

/**
 * Error code for a proxy that answered CONNECT with a status other than 200, so that nothing
 * reached the platform. undici has the status only in the message.
 */
function proxyRefusal(error: unknown): string | undefined {
  const [, status] =
    /^Proxy response \((\d+)\)/.exec(error instanceof Error ? error.message : '') ?? []
  return status && `PROXY_${status}`
}

function errorCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  // undici's code for a certificate that names another host, with or without a proxy.
  if ('code' in error && error.code === 'UND_ERR_PRX_TLS') return errorCode(error.cause)
  if ('code' in error && typeof error.code === 'string') return error.code
  return errorCode(error.cause)
}

/** Opens the pool of connections to the platform. */
function openPool({ proxy, headersTimeoutMs, concurrency }: NetworkOptions): Dispatcher {
  const options = {
    // undici also counts connections that it is still opening for requests that have ended.
    connections: concurrency.inAll,
    // http-exchange.ts limits headers and body. undici's own timers are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    // With HTTP/2, ending a request would end only its stream and keep a dead connection. undici
    // would also resend every request that the server reports as not processed.
    allowH2: false,
    // Shorter than the request's deadline, so that a connection that cannot be opened is reported
    // as such. Connections through a proxy have no other time limit.
    connectTimeout: Math.max(1, headersTimeoutMs / 2),
  }
  if (!proxy) return new Agent(options)
  const { url: httpsProxy, except: noProxy } = proxy
  return new EnvHttpProxyAgent({ ...options, httpsProxy, noProxy })
}
