/** Facts about the platform requests of one client request. */
export interface PlatformFacts {
  /** Requests sent, including retries. */
  readonly requests: number
  readonly retries: number
  /**
   * Status of the last answer to the tool's own operation, or else of the last answer. `undefined`:
   * no answer came, or nothing was sent.
   */
  readonly status: number | undefined
  /** The platform's own id of that request (`X-Request-Id`). */
  readonly requestId: string | undefined
}

/** A request of a client that begins. */
export interface BeginningRequest {
  /** MCP method; `unknown` for one that is not served, because it is a text of the client. */
  readonly method: string
  /** Called tool or prompt, if this server has it. */
  readonly target?: { readonly kind: 'tool' | 'prompt'; readonly name: string } | undefined
  /** Hash of the API key; `undefined`: not known yet. */
  readonly keyHash: string | undefined
  readonly transport: 'stdio' | 'http'
  /** JSON-RPC id, protocol revision and session, all chosen by the client. */
  readonly id?: string | number | undefined
  readonly revision?: string | undefined
  readonly session?: string | undefined
  /** Sources of the request's trace context (W3C Trace Context). */
  readonly traceContext?: TraceContextSources | undefined
}

/** Sources of the trace context of a request. */
export interface TraceContextSources {
  /** Its `_meta`. */
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

/** A finished request of a client. Contains no argument, no key and no conversation. */
export interface RequestRecord extends RequestOutcome {
  /** Start of the request, ms since 1970. */
  readonly time: number
  /** Unique among all servers. */
  readonly id: string
  /** The method of MCP, or `unknown`. */
  readonly method: string
  /** The tool of a tool call; `unknown` for a name that no exposed tool has. */
  readonly tool: string | undefined
  readonly durationMs: number
  /** Prefix of the hash of the API key; `undefined`: not known yet. */
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

/** Source of a cacheable reply: the cache, or the platform. */
export type CacheResult = 'hit' | 'stale' | 'miss'

/** Decision of the dial policy about a call; `not_placed`: allowed, but not sent or not accepted. */
export type DialResult = 'allowed' | 'refused' | 'not_placed'

/** State failure of a request: `away` recovers by itself, `broken` needs a repair. */
export type StateFailure = 'away' | 'broken'

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
