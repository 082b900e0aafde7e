import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import {
  type Cancelled,
  type Failure,
  type Redirected,
  SendFailure,
  type TimedOut,
} from './failure.ts'
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
      const reply = await exchange(pool, target, request, deadline)
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

/** One request and its reply. */
function exchange(
  pool: Dispatcher,
  url: URL,
  { method, headers, body }: WireRequest,
  deadline: Deadline,
): Promise<WireReply> {
  if (deadline.struck) return Promise.reject(deadline.struck)
  const { origin, pathname, search } = url
  const options = { origin, path: pathname + search, method, headers, body: body ?? null }
  return new Promise((resolve, reject) => {
    pool.dispatch(options, new Exchange({ deadline, receiving: new Receiving(), resolve, reject }))
  })
}

/** A request under way: what is told of it, and who waits for it. */
interface UnderWay {
  readonly deadline: Deadline
  readonly receiving: Receiving
  readonly resolve: (reply: WireReply) => void
  readonly reject: (failure: Error) => void
}

/**
 * What undici's lowest interface tells of a request: its others make a stream of each reply, which
 * takes as long as everything else here. When it is over it lets go of all it had: something in
 * undici still leads to it, and V8 would take a third of what requests allocate for long-lived.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #underWay: UnderWay | undefined
  #controller: Dispatcher.DispatchController | undefined

  constructor(underWay: UnderWay) {
    this.#underWay = underWay
    // What hangs before there is a connection cannot be stopped, but is not waited for.
    underWay.deadline.onStrike = (failure) => {
      this.#controller?.abort(failure)
      this.#end()?.reject(failure)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up before there was a connection: nothing is sent any more.
    if (!this.#underWay) return void controller.abort(new Error('given up'))
    this.#underWay.deadline.sendingBegan()
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    fields: IncomingHttpHeaders,
  ): void {
    // 1xx announce a reply, and are none; less is no status at all.
    if (status < 100) controller.abort(noHttp())
    if (status < 200 || !this.#underWay) return
    this.#underWay.deadline.headersArrived()
    this.#underWay.receiving.begin(status, fields)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const failure = this.#underWay?.receiving.add(chunk)
    if (failure) controller.abort(failure)
  }

  onResponseEnd(): void {
    const ended = this.#end()
    ended?.resolve(ended.receiving.reply())
  }

  onResponseError(_: unknown, error: Error): void {
    const ended = this.#end()
    // Once the status has arrived, this is a reply that broke off, not a missing one.
    ended?.reject(ended.receiving.brokenOff(error))
  }

  #end(): UnderWay | undefined {
    const underWay = this.#underWay
    if (underWay) underWay.deadline.onStrike = nothing
    this.#underWay = undefined
    this.#controller = undefined
    return underWay
  }
}

const nothing = () => undefined

/** A reply on its way. */
class Receiving {
  readonly #chunks: Buffer[] = []
  #size = 0
  #status = 0
  #fields: IncomingHttpHeaders = {}

  begin(status: number, fields: IncomingHttpHeaders): void {
    this.#status = status
    this.#fields = fields
  }

  /** Gives a failure when it is too much. */
  add(chunk: Buffer): SendFailure | undefined {
    this.#size += chunk.length
    if (this.#size > maxReplyBytes) return this.#unreadable('too_large', '')
    this.#chunks.push(chunk)
    return undefined
  }

  reply(): WireReply {
    return { status: this.#status, header: this.#header, body: this.#text() }
  }

  brokenOff(error: Error): Error {
    const isOwn = error instanceof SendFailure || this.#status === 0
    return isOwn ? error : this.#unreadable('cut_off', this.#text())
  }

  readonly #header = (name: string) => {
    const value = this.#fields[name]
    return Array.isArray(value) ? value[0] : value
  }

  #text(): string {
    const [first, ...rest] = this.#chunks
    const bytes = first && rest.length === 0 ? first : Buffer.concat(this.#chunks)
    return bytes.toString('utf8')
  }

  #unreadable(reason: 'too_large' | 'cut_off', excerpt: string): SendFailure {
    const header = this.#header
    const facts = { detail: null, excerpt, ...replyFacts({ header }) }
    return new SendFailure({ kind: 'unreadable', status: this.#status, reason, ...facts })
  }
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
  /** Why it struck; `undefined` while it has not. */
  readonly struck: SendFailure | undefined
  /** Told when it strikes. */
  onStrike: (failure: SendFailure) => void
  /** Before this nothing has left: what waits for a connection is never sent after it struck. */
  sendingBegan(): void
  headersArrived(): void
  end(): void
}

function startDeadline(
  { signal, timeLeftMs = Number.POSITIVE_INFINITY }: WireRequest,
  { headersTimeoutMs, totalTimeoutMs }: NetworkOptions,
): Deadline {
  let struck: SendFailure | undefined
  let maybeSent = false
  const strike = (failure: Omit<TimedOut, 'maybeSent'> | Omit<Cancelled, 'maybeSent'>) => {
    struck ??= new SendFailure({ ...failure, maybeSent })
    deadline.onStrike(struck)
  }
  const late = (waitingFor: 'headers' | 'body', afterMs: number) =>
    setTimeout(strike, afterMs, { kind: 'timeout', waitingFor, afterMs })
  const headers = late('headers', Math.min(headersTimeoutMs, timeLeftMs))
  const total = late('body', Math.min(totalTimeoutMs, timeLeftMs))
  const cancel = () => strike({ kind: 'cancelled' })
  const deadline: Deadline = {
    get struck() {
      return struck
    },
    onStrike: nothing,
    sendingBegan() {
      maybeSent = true
    },
    headersArrived: () => clearTimeout(headers),
    end() {
      clearTimeout(headers)
      clearTimeout(total)
      signal?.removeEventListener('abort', cancel)
    },
  }
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel)
  return deadline
}

/**
 * Codes that mean no connection was made, so nothing was sent. Certificate errors end the
 * handshake before the request.
 */
const neverConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|.*CERT.*|UNABLE_TO_.*)$/

function failureOf(error: unknown, deadline: Deadline): Failure {
  if (deadline.struck) return deadline.struck.failure
  if (error instanceof SendFailure) return error.failure
  const code = isNoHttp(error) ? 'NO_HTTP' : errorCode(error)
  // No code: not the network's doing but a bug of ours, which must not read as a network failure.
  const isOurs = code === null || /^(UND_ERR_INVALID_ARG|ERR_(?!TLS|SSL))/.test(code)
  if (isOurs) throw error
  return { kind: 'network', code, maybeSent: !neverConnected.test(code) && !isProxyRefusal(error) }
}

const noHttp = () => new SendFailure({ kind: 'network', code: 'NO_HTTP', maybeSent: true })

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
