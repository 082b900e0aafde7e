import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

/** How an operation ended: with a result or an error. */
export type Ended<T> = { readonly result: T } | { readonly error: unknown }

/**
 * Receives the events of requests and tool calls, and passes them to the log, the metrics and the
 * traces.
 */
export interface Observer
  extends Required<Pick<Sink, 'platformTried' | 'cacheRead' | 'dialDecided' | 'stateFailed'>> {
  /** Runs a client's request, and records its end. */
  request<T>(
    request: BeginningRequest,
    run: () => Promise<T>,
    outcomeOf: (ended: Ended<T>) => RequestOutcome,
  ): Promise<T>
  /** Records a request that was answered without a handler. */
  requestEnded(request: BeginningRequest, outcome: RequestOutcome): void
  /**
   * Runs the tool call of the current request, and records its end. `outcomeOf` returns a word from
   * a short list.
   */
  toolCall<T>(
    call: BeginningCall,
    run: () => Promise<T>,
    outcomeOf: (ended: Ended<T>) => string,
  ): Promise<T>
  /** Records a tool call of the current request that was refused and never ran. */
  toolCallEnded(call: BeginningCall, outcome: string): void
  /** Records an HTTP request that was not served. `keyHash`: hash of its API key, valid or not. */
  requestRefused(
    request: Omit<RefusedRequest, 'key'> & { readonly keyHash: string | undefined },
  ): void
  /** Begins the trace span of a request to the platform; `undefined` if nothing is traced. */
  readonly beginTry: BeginTry | undefined
}

export function createObserver(sinks: readonly Sink[], tracing?: Tracing): Observer {
  const current = new AsyncLocalStorage<RequestUnderWay>()
  const eachSink = (notify: (sink: Sink) => void) => {
    for (const sink of sinks) notify(sink)
  }
  const nextId = requestIds()
  const beginRequest = (request: BeginningRequest) =>
    new RequestUnderWay(request, tracing?.beginRequest(request))
  const endRequest = (underWay: RequestUnderWay, ended: RequestOutcome) => {
    const outcome = underWay.outcome(ended)
    underWay.span?.end(outcome)
    const record = underWay.record(nextId(), outcome)
    eachSink((sink) => sink.requestEnded?.(record))
  }
  const beginCall = (call: BeginningCall) => {
    const underWay = current.getStore()
    if (underWay) underWay.call = call
    eachSink((sink) => sink.toolCallBegan?.(call.tool))
  }
  const endCall = ({ tool }: BeginningCall, outcome: string, durationMs: number) => {
    const underWay = current.getStore()
    if (underWay) underWay.callOutcome = outcome
    eachSink((sink) => sink.toolCallEnded?.({ tool, outcome, durationMs }))
  }
  return {
    request(request, run, outcomeOf) {
      const underWay = beginRequest(request)
      const { span } = underWay
      const work = () => current.run(underWay, () => (span ? span.run(run) : run()))
      return observed(work, (ended) => endRequest(underWay, outcomeOf(ended)))
    },
    requestEnded: (request, outcome) => endRequest(beginRequest(request), outcome),
    toolCall(call, run, outcomeOf) {
      const started = performance.now()
      beginCall(call)
      return observed(run, (what) => endCall(call, outcomeOf(what), performance.now() - started))
    },
    toolCallEnded(call, outcome) {
      beginCall(call)
      endCall(call, outcome, 0)
    },
    requestRefused({ keyHash, ...request }) {
      const record = { ...request, key: keyHash && shownHash(keyHash) }
      eachSink((sink) => sink.requestRefused?.(record))
    },
    platformTried(attempt) {
      current.getStore()?.add(attempt)
      eachSink((sink) => sink.platformTried?.(attempt))
    },
    beginTry: tracing?.beginTry,
    cacheRead: (result) => eachSink((sink) => sink.cacheRead?.(result)),
    dialDecided: (result, rule) => eachSink((sink) => sink.dialDecided?.(result, rule)),
    stateFailed: (how) => eachSink((sink) => sink.stateFailed?.(how)),
  }
}

/** Runs an operation, and reports its result or error before passing it on. */
export async function observed<T>(
  work: () => Promise<T>,
  onEnd: (ended: Ended<T>) => void,
): Promise<T> {
  let result: T
  try {
    result = await work()
  } catch (error) {
    onEnd({ error })
    throw error
  }
  onEnd({ result })
  return result
}

interface BeginningCall {
  /** Name of a tool of this server, never client text. */
  readonly tool: string
  /** The platform operation that the tool performs. */
  readonly operation: string
}

/**
 * Prefix of an API key's hash, base64url, in the log and the audit trail. Long enough to tell users
 * apart.
 */
export const shownHash = (keyHash: string): string => keyHash.slice(0, 16)

/** Generates request ids: a random part for this process, and a counter. */
function requestIds(): () => string {
  const process = randomUUID().slice(0, 8)
  let count = 0
  return () => `${process}-${++count}`
}

/** A running client request, with the facts about its platform requests so far. */
class RequestUnderWay {
  readonly #beginning: BeginningRequest
  readonly #time = Date.now()
  readonly #started = performance.now()
  /** Absent if traces are not recorded. */
  readonly span: RequestSpan | undefined
  /** The request's tool call, with its outcome. */
  call: BeginningCall | undefined
  callOutcome: string | undefined
  #requests = 0
  #retries = 0
  #last: PlatformTry | undefined

  constructor(beginning: BeginningRequest, span: RequestSpan | undefined) {
    this.#beginning = beginning
    this.span = span
  }

  add(attempt: PlatformTry): void {
    this.#requests++
    if (attempt.isRetry) this.#retries++
    // The record shows the last request of the tool's own operation, if there was one. A tool call
    // may also send others, such as for names or the account.
    const operation = this.call?.operation
    const isLess =
      operation !== undefined &&
      attempt.operation !== operation &&
      this.#last?.operation === operation
    if (!isLess) this.#last = attempt
  }

  /**
   * Outcome of the request: of its JSON-RPC error, otherwise of its tool call, otherwise as given.
   */
  outcome({ outcome, code }: RequestOutcome): RequestOutcome {
    return { outcome: code === undefined ? (this.callOutcome ?? outcome) : outcome, code }
  }

  record(id: string, { outcome, code }: RequestOutcome): RequestRecord {
    const { method, keyHash } = this.#beginning
    const { status, requestId } = this.#last ?? {}
    return {
      time: this.#time,
      id,
      method,
      tool: this.call?.tool,
      outcome,
      code,
      durationMs: performance.now() - this.#started,
      key: keyHash && shownHash(keyHash),
      platform: {
        requests: this.#requests,
        retries: this.#retries,
        status,
        requestId: safeId(requestId),
      },
      traceId: this.span?.traceId,
    }
  }
}

/** The platform's request id, if it is safe in a log line. */
const safeId = (id: string | undefined) =>
  id !== undefined && /^[\w.:/+=-]{1,128}$/.test(id) ? id : undefined

/** Facts about the platform requests of one client request. */
export interface PlatformFacts {
  /** Requests sent, including retries. */
  readonly requests: number
  readonly retries: number
  /**
   * Status of the last reply to the tool's own operation, otherwise of the last reply. `undefined`:
   * no reply, or no request.
   */
  readonly status: number | undefined
  /** The platform's id of that platform request (`X-Request-Id`). */
  readonly requestId: string | undefined
}

/** A client request at its start. */
export interface BeginningRequest {
  /** MCP method; `unknown` for a method that is not served, because clients choose the text. */
  readonly method: string
  /** Called tool or prompt, if this server exposes it. */
  readonly target?: { readonly kind: 'tool' | 'prompt'; readonly name: string } | undefined
  /** Hash of the API key; `undefined` in the stdio handshake. */
  readonly keyHash: string | undefined
  readonly transport: 'stdio' | 'http'
  /** JSON-RPC id, protocol revision and session, all chosen by the client. */
  readonly id?: string | number | undefined
  readonly revision?: string | undefined
  readonly session?: string | undefined
  readonly traceContext?: TraceContextSources | undefined
}

/** Where a request may carry its trace context (W3C Trace Context). */
export interface TraceContextSources {
  /** The `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>>
  /** The headers of the HTTP request. */
  readonly header: (name: string) => string | undefined
}

/** Outcome of a request. */
export interface RequestOutcome {
  /** `ok`, or the reason for the failure, from a short list. */
  readonly outcome: string
  /** Code of the JSON-RPC error in the answer. */
  readonly code?: number | undefined
}

/** A finished client request. Contains no arguments, API key or conversation. */
export interface RequestRecord extends RequestOutcome {
  /** Start of the request, ms since 1970. */
  readonly time: number
  /** Unique across processes. */
  readonly id: string
  /** MCP method, or `unknown`. */
  readonly method: string
  /** Name of the called tool; `unknown` for a name that no exposed tool has. */
  readonly tool: string | undefined
  readonly durationMs: number
  /** Prefix of the hash of the API key; `undefined` in the stdio handshake. */
  readonly key: string | undefined
  readonly platform: PlatformFacts
  /** Id of the request's trace, if traces are recorded. */
  readonly traceId: string | undefined
}

/** A finished tool call. */
export interface EndedCall {
  readonly tool: string
  readonly outcome: string
  readonly durationMs: number
}

/** An HTTP request that was not served. */
export interface RefusedRequest {
  /** Status of the answer, 400 to 599. */
  readonly status: number
  readonly durationMs: number
  /** Prefix of the hash of the request's API key, valid or not. */
  readonly key: string | undefined
}

/** A request to the platform at its start. Contains no customer data. */
export interface BeginningTry {
  readonly operation: string
  readonly method: string
  /** Path of the operation with variables, such as `/v1/accounts/{account_id}/agents`. */
  readonly path: string
  /** Number of earlier attempts. */
  readonly resends: number
  /** Origin and base path of the platform, or `sandbox`. */
  readonly platform: string
}

export interface PlatformTry {
  /** The operation, such as `agents.list`. */
  readonly operation: string
  /** Status of the answer; `undefined`: no answer. */
  readonly status: number | undefined
  readonly requestId: string | undefined
  /** Failure, from a short list; `undefined` for a success. */
  readonly failure: string | undefined
  readonly durationMs: number
  readonly isRetry: boolean
}

/**
 * Result of a cache read. `stale`: an old reply was returned and is refreshed in the background.
 */
export type CacheResult = 'hit' | 'stale' | 'miss'

/**
 * Decision of the dial policy about a phone or web call. `not_placed`: allowed, but not sent or not
 * accepted.
 */
export type DialResult = 'allowed' | 'refused' | 'not_placed'

/** Why a request could not use the state: `away` recovers by itself, `broken` needs a repair. */
export type StateFailure = 'away' | 'broken'

/** Receives the events that it needs: the log and the metrics are sinks. */
export interface Sink {
  toolCallBegan?(tool: string): void
  toolCallEnded?(call: EndedCall): void
  requestEnded?(record: RequestRecord): void
  requestRefused?(request: RefusedRequest): void
  platformTried?(attempt: PlatformTry): void
  cacheRead?(result: CacheResult): void
  stateFailed?(how: StateFailure): void
  /** `rule` is the rule that refused the call; empty for the other results. */
  dialDecided?(result: DialResult, rule: string): void
}

export interface Tracing {
  beginRequest(request: BeginningRequest): RequestSpan
  readonly beginTry: BeginTry
}

export interface RequestSpan {
  /** `undefined` if the request is not part of a trace. */
  readonly traceId: string | undefined
  run<T>(work: () => T): T
  end(outcome: RequestOutcome): void
}

/** Begins the span of a request to the platform. */
export type BeginTry = (beginning: BeginningTry) => {
  /** Headers that propagate the trace context. */
  readonly headers: Readonly<Record<string, string>>
  run<T>(work: () => T): T
  end(attempt: PlatformTry): void
}
