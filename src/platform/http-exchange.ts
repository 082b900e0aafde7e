import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Method } from '../contract/route.ts'
import { type Cancelled, SendFailure, type TimedOut } from './failure.ts'
import { failureHeaders, maxReplyBytes, type WireReply } from './reply.ts'

/**
 * Sends one request and receives its complete reply, without retries. The interface between the
 * client and a platform: the network, or the sandbox in this process. Throws SendFailure.
 */
export type Send = (request: WireRequest) => Promise<WireReply>

/** A request on the wire, without the base URL. */
export interface WireRequest {
  readonly method: Method
  /** Path and query, starting with `/v1/`. */
  readonly target: string
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Awaited right before sending. The request can still be cancelled until it resolves. */
  readonly beforeSending?: () => Promise<void>
  readonly signal?: AbortSignal
  /** Time limit, ms, if shorter than the limits of the sender. */
  readonly timeLeftMs?: number
  /** Network of the client that caused the request, if known. Never sent to the platform. */
  readonly clientNetwork?: string
}

/** Sends one request over a pool of connections. */
export function exchange(
  pool: Dispatcher,
  url: URL,
  { method, headers, body }: WireRequest,
  deadline: RequestDeadline,
): Promise<WireReply> {
  if (deadline.failure) return Promise.reject(deadline.failure)
  const { origin, pathname, search } = url
  const options = { origin, path: pathname + search, method, headers, body: body ?? null }
  return new Promise((resolve, reject) => {
    pool.dispatch(options, new Exchange({ deadline, receiving: new Receiving(), resolve, reject }))
  })
}

/** A request in flight: its deadline, the reply received so far, and the promise to the caller. */
interface InFlight {
  readonly deadline: RequestDeadline
  readonly receiving: Receiving
  readonly resolve: (reply: WireReply) => void
  readonly reject: (failure: Error) => void
}

/**
 * Handles the events of one request at undici's lowest interface. Higher interfaces create a stream
 * for each reply, which takes as long as all other work of a request. At the end, all references
 * are dropped: undici keeps this object for a while, and V8 would otherwise move a third of the
 * requests' allocations to the old generation.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #inFlight: InFlight | undefined
  #controller: Dispatcher.DispatchController | undefined

  constructor(inFlight: InFlight) {
    this.#inFlight = inFlight
    // undici cannot abort a request while it connects, so then only the caller's wait ends.
    inFlight.deadline.onFailure = (failure) => {
      this.#controller?.abort(failure)
      this.#end()?.reject(failure)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline passed before there was a connection, so nothing is sent.
    if (!this.#inFlight) return void controller.abort(new Error('given up'))
    this.#inFlight.deadline.sendingBegan()
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    fields: IncomingHttpHeaders,
  ): void {
    // 1xx are not final (RFC 9110 §15.2); a status below 100 is invalid.
    if (status < 100) controller.abort(noHttp())
    if (status < 200 || !this.#inFlight) return
    this.#inFlight.deadline.headersArrived()
    this.#inFlight.receiving.begin(status, fields)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const failure = this.#inFlight?.receiving.add(chunk)
    if (failure) controller.abort(failure)
  }

  onResponseEnd(): void {
    const ended = this.#end()
    ended?.resolve(ended.receiving.reply())
  }

  onResponseError(_: unknown, error: Error): void {
    const ended = this.#end()
    // After the status has arrived, an error means an incomplete reply, not a missing one.
    ended?.reject(ended.receiving.brokenOff(error))
  }

  #end(): InFlight | undefined {
    const inFlight = this.#inFlight
    if (inFlight) inFlight.deadline.onFailure = () => undefined
    this.#inFlight = undefined
    this.#controller = undefined
    return inFlight
  }
}

/** A reply while it is being received. */
class Receiving {
  readonly #chunks: Buffer[] = []
  #size = 0
  #status = 0
  #fields: IncomingHttpHeaders = {}

  begin(status: number, fields: IncomingHttpHeaders): void {
    this.#status = status
    this.#fields = fields
  }

  /** Adds a chunk; returns a failure if the reply is too large. */
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
    const known = { detail: null, excerpt, ...failureHeaders({ header }) }
    return new SendFailure({ kind: 'unreadable', status: this.#status, reason, ...known })
  }
}

const noHttp = () => new SendFailure({ kind: 'network', code: 'NO_HTTP', maybeSent: true })

/** Time limits of one request, ms. */
export interface RequestTimeLimits {
  /** Time to the first byte of the reply. */
  readonly headersTimeoutMs: number
  /** Time to the end of the reply. */
  readonly totalTimeoutMs: number
}

/** Ends a request at its time limit, or when the caller aborts. */
export interface RequestDeadline {
  /** The reason why the request was ended; `undefined`: it was not. */
  readonly failure: SendFailure | undefined
  /** Set by whoever waits for the request: called when the deadline ends the request. */
  onFailure: (failure: SendFailure) => void
  /** Must run when sending begins. A failure before that means that nothing was sent. */
  sendingBegan(): void
  headersArrived(): void
  /** Must run when the request is over. */
  end(): void
}

/**
 * Starts two timers: for the headers, and for the whole reply. All other time limits are in
 * time-limit.ts.
 */
export function startRequestDeadline(
  { signal, timeLeftMs = Number.POSITIVE_INFINITY }: WireRequest,
  { headersTimeoutMs, totalTimeoutMs }: RequestTimeLimits,
): RequestDeadline {
  let ended: SendFailure | undefined
  let maybeSent = false
  const fail = (failure: Omit<TimedOut, 'maybeSent'> | Omit<Cancelled, 'maybeSent'>) => {
    ended ??= new SendFailure({ ...failure, maybeSent })
    deadline.onFailure(ended)
  }
  const failAfter = (waitingFor: 'headers' | 'body', afterMs: number) =>
    setTimeout(fail, afterMs, { kind: 'timeout', waitingFor, afterMs })
  const headers = failAfter('headers', Math.min(headersTimeoutMs, timeLeftMs))
  const total = failAfter('body', Math.min(totalTimeoutMs, timeLeftMs))
  const cancel = () => fail({ kind: 'cancelled' })
  const deadline: RequestDeadline = {
    get failure() {
      return ended
    },
    onFailure: () => undefined,
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
