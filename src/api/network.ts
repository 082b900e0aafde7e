import type { Dispatcher } from 'undici'
import { exchange } from './exchange.ts'
import { type Failure, type Redirected, SendFailure } from './failure.ts'
import { openPool, type PoolOptions } from './pool.ts'
import {
  type RequestDeadline,
  type RequestTimeLimits,
  startRequestDeadline,
} from './request-deadline.ts'
import type { Send, WireReply, WireRequest } from './send.ts'
import { defaultTurns, type Sender, Turns } from './turns.ts'

export interface NetworkOptions extends RequestTimeLimits, PoolOptions {
  /** Origin, and optionally a path prefix, of the platform. */
  readonly baseUrl: URL
}

/** A sender over the network: a pool of kept-alive connections to one origin. */
export interface NetworkSender {
  send: Send
  close(): Promise<void>
}

/** Redirects followed within the origin before giving up. */
const maxRedirects = 3

/** Connections are made with the first request. */
export function createNetworkSender(options: NetworkOptions): NetworkSender {
  const pool = openPool(options)
  const turns = new Turns(options.atOnce ?? defaultTurns)
  return {
    async send(request) {
      const { origin, pathname } = options.baseUrl
      // Joined as text: resolving `//host/…` against an origin would lead to that host.
      const url = new URL(origin + pathname.replace(/\/$/, '') + request.target)
      return sendTo({ pool, turns }, url, request, options)
    },
    close: () => pool.destroy(),
  }
}

async function sendTo(
  { pool, turns }: { readonly pool: Dispatcher; readonly turns: Turns },
  url: URL,
  request: WireRequest,
  options: NetworkOptions,
): Promise<WireReply> {
  const deadline = startRequestDeadline(request, options)
  const sender = { key: request.headers['x-api-key'] ?? '', network: request.clientNetwork }
  let hasTurn = false
  try {
    await turnOf(sender, turns, deadline)
    hasTurn = true
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
    if (hasTurn) turns.release(sender)
  }
}

/** Waits for the sender's turn; the deadline of the request includes this wait. */
function turnOf(sender: Sender, turns: Turns, deadline: RequestDeadline): Promise<void> {
  if (deadline.failure) return Promise.reject(deadline.failure)
  return new Promise((resolve, reject) => {
    const giveUp = turns.take(sender, resolve)
    deadline.onFailure = (failure) => {
      giveUp?.()
      reject(failure)
    }
  })
}

/**
 * The target of a redirect that is followed; null for other replies. A redirect is followed only
 * within the origin, because the key is sent nowhere else, and only if the same request may be sent
 * again (RFC 9110 §15.4).
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
  // A POST is not repeated, not even for 307 and 308: it may have created something already, and
  // would create it twice.
  const isRepeatable =
    request.method === 'GET' ||
    (request.method !== 'POST' && (reply.status === 307 || reply.status === 308))
  if (!isRepeatable) throw refuse('not_repeatable')
  const isCircle = visited.some(({ href }) => href === to.href)
  if (isCircle || visited.length > maxRedirects) throw refuse('too_many')
  return to
}

/**
 * Codes that mean no connection was made, so nothing was sent. Certificate errors end the
 * handshake before the request.
 */
const neverConnected =
  /^(EMFILE|ENFILE|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_CONN|PROXY_\d+|.*CERT.*|UNABLE_TO_.*)$/

function failureOf(error: unknown, deadline: RequestDeadline): Failure {
  if (deadline.failure) return deadline.failure.failure
  if (error instanceof SendFailure) return error.failure
  const code = isNoHttp(error) ? 'NO_HTTP' : (proxyRefusal(error) ?? errorCode(error))
  // Without a code this is a bug of this program, which must not look like a network failure.
  const isOurs = code === null || /^(UND_ERR_INVALID_ARG|ERR_(?!TLS|SSL))/.test(code)
  if (isOurs) throw error
  return { kind: 'network', code, maybeSent: !neverConnected.test(code) }
}

/** Whether the reply is not HTTP. */
const isNoHttp = (error: unknown) => error instanceof Error && error.name === 'HTTPParserError'

/**
 * The code for a proxy that answered CONNECT with another status than 200, so that nothing reached
 * the platform. undici has the status only in the message.
 */
function proxyRefusal(error: unknown): string | undefined {
  const [, status] =
    /^Proxy response \((\d+)\)/.exec(error instanceof Error ? error.message : '') ?? []
  return status && `PROXY_${status}`
}

function errorCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  // undici's code for a certificate with another name, with or without a proxy.
  if ('code' in error && error.code === 'UND_ERR_PRX_TLS') return errorCode(error.cause)
  if ('code' in error && typeof error.code === 'string') return error.code
  return errorCode(error.cause)
}
