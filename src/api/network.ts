import type { Dispatcher } from 'undici'
import { type Failure, type Redirected, SendFailure } from './failure.ts'
import { maxReplyBytes, replyFacts } from './reply.ts'
import type { Send, WireReply, WireRequest } from './send.ts'

export interface NetworkOptions {
  /** Origin, and optionally a path prefix, of the platform. */
  readonly baseUrl: URL
  /** Longest wait for the first byte of a reply, ms. */
  readonly headersTimeoutMs: number
  /** Longest wait for the whole reply, ms. */
  readonly totalTimeoutMs: number
  /** Proxy for https, from the environment; loopback and plain http never use it. */
  readonly proxy?: { readonly url: string; readonly except: string }
}

/** A sender over the network: a pool of kept-alive connections to one origin. */
export interface NetworkSender {
  send: Send
  close(): Promise<void>
}

/** Redirects followed within the origin before giving up. */
const maxRedirects = 3

/** undici is loaded with the first request: a server that only lists its tools never needs it. */
export function createNetworkSender(options: NetworkOptions): NetworkSender {
  let pool: Promise<Dispatcher> | undefined
  return {
    async send(request) {
      pool ??= import('./pool.ts').then(({ openPool }) => openPool(options))
      const { origin, pathname } = options.baseUrl
      // Put together as text: resolving `//host/…` against an origin would lead to that host.
      const url = new URL(origin + pathname.replace(/\/$/, '') + request.target)
      return sendTo(await pool, url, request, options)
    },
    async close() {
      await (await pool)?.destroy()
    },
  }
}

async function sendTo(
  pool: Dispatcher,
  url: URL,
  request: WireRequest,
  options: NetworkOptions,
): Promise<WireReply> {
  const deadline = startDeadline(request, options)
  try {
    const visited = [url]
    for (let target = url; ; visited.push(target)) {
      // Raced, because what hangs before there is a connection does not hear the signal.
      const reply = await Promise.race([exchange(pool, target, request, deadline), deadline.struck])
      const next = redirectOf(reply, visited, request)
      if (!next) return reply
      target = next
    }
  } catch (error) {
    throw new SendFailure(failureOf(error, deadline))
  } finally {
    deadline.end()
  }
}

async function exchange(
  pool: Dispatcher,
  url: URL,
  { method, headers, body }: WireRequest,
  deadline: Deadline,
): Promise<WireReply> {
  const response = await pool.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { ...headers },
    body: body ?? null,
    signal: deadline.signal,
  })
  deadline.headersArrived()
  const header = (name: string) => {
    const value = response.headers[name]
    return Array.isArray(value) ? value[0] : value
  }
  const unreadable = (reason: 'too_large' | 'cut_off', excerpt: string) =>
    new SendFailure({
      kind: 'unreadable',
      status: response.statusCode,
      reason,
      detail: null,
      excerpt,
      ...replyFacts({ header }),
    })
  return { status: response.statusCode, header, body: await readBody(response.body, unreadable) }
}

async function readBody(
  body: AsyncIterable<Buffer>,
  unreadable: (reason: 'too_large' | 'cut_off', excerpt: string) => SendFailure,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const text = () => Buffer.concat(chunks).toString('utf8')
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxReplyBytes) throw unreadable('too_large', '')
      chunks.push(chunk)
    }
  } catch (error) {
    // The status has arrived, so this is a reply that broke off, not a missing one.
    throw error instanceof SendFailure ? error : unreadable('cut_off', text())
  }
  return text()
}

/**
 * Where a redirect leads, if it is to be followed: within the origin only, because the key goes
 * nowhere else, and only where the same request may be sent again (RFC 9110 §15.4).
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
  if (request.method !== 'GET' && reply.status !== 307 && reply.status !== 308) {
    throw refuse('not_repeatable')
  }
  const isCircle = visited.some(({ href }) => href === to.href)
  if (isCircle || visited.length > maxRedirects) throw refuse('too_many')
  return to
}

interface Deadline {
  signal: AbortSignal
  /** Rejects when it strikes. */
  struck: Promise<never>
  headersArrived(): void
  end(): void
  /** Why it struck; null while it has not. */
  reason(): Failure | null
}

function startDeadline(
  { signal, timeLeftMs = Number.POSITIVE_INFINITY }: WireRequest,
  { headersTimeoutMs, totalTimeoutMs }: NetworkOptions,
): Deadline {
  const controller = new AbortController()
  const { promise: struck, reject } = Promise.withResolvers<never>()
  struck.catch(() => undefined)
  let reason: Failure | null = null
  const strike = (failure: Failure) => {
    reason ??= failure
    controller.abort()
    reject(new SendFailure(reason))
  }
  const late = (waitingFor: 'headers' | 'body', afterMs: number) =>
    setTimeout(strike, afterMs, { kind: 'timeout', waitingFor, afterMs, maybeSent: true })
  const headers = late('headers', Math.min(headersTimeoutMs, timeLeftMs))
  const total = late('body', Math.min(totalTimeoutMs, timeLeftMs))
  const cancel = () => strike({ kind: 'cancelled', maybeSent: true })
  if (signal?.aborted) strike({ kind: 'cancelled', maybeSent: false })
  signal?.addEventListener('abort', cancel)
  return {
    signal: controller.signal,
    struck,
    headersArrived: () => clearTimeout(headers),
    end() {
      clearTimeout(headers)
      clearTimeout(total)
      signal?.removeEventListener('abort', cancel)
    },
    reason: () => reason,
  }
}

/**
 * Codes that mean no connection was made, so nothing was sent. Certificate errors end the
 * handshake before the request.
 */
const neverConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|.*CERT.*|UNABLE_TO_.*)$/

function failureOf(error: unknown, deadline: Deadline): Failure {
  const struck = deadline.reason()
  if (struck) return struck
  if (error instanceof SendFailure) return error.failure
  const code = isNoHttp(error) ? 'NO_HTTP' : errorCode(error)
  // No code: not the network's doing but a bug of ours, which must not read as a network failure.
  const isOurs = code === null || /^(UND_ERR_INVALID_ARG|ERR_(?!TLS|SSL))/.test(code)
  if (isOurs) throw error
  return { kind: 'network', code, maybeSent: !neverConnected.test(code) && !isProxyRefusal(error) }
}

/** What came back is not HTTP at all. */
const isNoHttp = (error: unknown) => error instanceof Error && error.name === 'HTTPParserError'

/** The proxy would not connect, so the platform has seen nothing. */
const isProxyRefusal = (error: unknown) =>
  error instanceof Error && /^Proxy response/.test(error.message)

function errorCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('code' in error && typeof error.code === 'string') return error.code
  return errorCode(error.cause)
}
