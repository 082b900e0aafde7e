/** What a request did at the platform. */
export interface PlatformFacts {
  /** Requests sent, each try counted. */
  readonly requests: number
  /** How many of them repeated one that had failed. */
  readonly retries: number
  /**
   * Status of the last answer to the operation that its tool is for, or else of the last answer.
   * `undefined`: no answer came, or nothing was sent.
   */
  readonly status: number | undefined
  /** The platform's own id of that request (`X-Request-Id`). */
  readonly requestId: string | undefined
}

/** A request of a client that begins. */
export interface BeginningRequest {
  /** The method of MCP; `unknown` for one that is not served: it is a text of the client. */
  readonly method: string
  /** The tool or prompt that it is for, if this server has it. */
  readonly target?: { readonly kind: 'tool' | 'prompt'; readonly name: string } | undefined
  /** Hash of the API key; `undefined`: it is not known yet. */
  readonly keyHash: string | undefined
  readonly transport: 'stdio' | 'http'
  /** Its id in JSON-RPC, the revision that it is of, and its session: chosen by the client. */
  readonly id?: string | number | undefined
  readonly revision?: string | undefined
  readonly session?: string | undefined
  /** What it says of the trace that it belongs to, by the names of W3C Trace Context. */
  readonly traceContext?: TraceContextSources | undefined
}

/** Where a request may say of which trace it is part. */
export interface TraceContextSources {
  /** Its `_meta`. */
  readonly meta: Readonly<Record<string, unknown>>
  /** The headers of the HTTP request. */
  readonly header: (name: string) => string | undefined
}

/** How a request ended. */
export interface RequestOutcome {
  /** `ok`, or why not, in one of a few words. */
  readonly outcome: string
  /** The code of the JSON-RPC error that it is answered with. */
  readonly code?: number | undefined
}

/** A finished request of a client. It has no argument, no key and nothing that a person said. */
export interface RequestRecord extends RequestOutcome {
  /** When it began, ms since 1970. */
  readonly time: number
  /** Unique among all servers. */
  readonly id: string
  /** The method of MCP, or `unknown`. */
  readonly method: string
  /** The tool of a tool call; `unknown` for a name that no exposed tool has. */
  readonly tool: string | undefined
  readonly durationMs: number
  /** The beginning of the hash of the API key; `undefined`: it was not known yet. */
  readonly key: string | undefined
  readonly platform: PlatformFacts
  /** The trace that it is part of, where traces are recorded. */
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
  /** Of the answer: 400 to 599. */
  readonly status: number
  readonly durationMs: number
  /** The beginning of the hash of the API key that it brought, valid or not. */
  readonly key: string | undefined
}

/** A request to the platform that begins. Nothing in it is of a customer. */
export interface BeginningTry {
  readonly operation: string
  readonly method: string
  /** Its path with variables, such as `/v1/accounts/{account_id}/agents`. */
  readonly path: string
  /** How many times it was sent before. */
  readonly resends: number
  /** Origin and base path of the platform, or `sandbox`. */
  readonly platform: string
}

export interface PlatformTry {
  /** The operation, such as `agents.list`. */
  readonly operation: string
  /** The status of the answer; `undefined`: there was no answer. */
  readonly status: number | undefined
  readonly requestId: string | undefined
  /** What went wrong, in one of a few words; `undefined` for a success. */
  readonly failure: string | undefined
  readonly durationMs: number
  readonly isRetry: boolean
}

/** Where a reply came from that may be kept: from the cache, or from the platform. */
export type CacheResult = 'hit' | 'stale' | 'miss'

/** What the dial policy says of a call; `not_placed`: it was allowed, and was not sent or not taken. */
export type DialResult = 'allowed' | 'refused' | 'not_placed'

/** A state that a request could not use: it will answer again by itself, or somebody has to repair it. */
export type StateFailure = 'away' | 'broken'

/** Receives what was observed. */
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
