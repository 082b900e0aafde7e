/** What a tool call did at the platform. */
export interface PlatformFacts {
  /** Requests sent, each try counted. */
  readonly requests: number
  /** How many of them repeated one that had failed. */
  readonly retries: number
  /**
   * Status of the last answer to the operation that the tool is for, or else of the last answer.
   * `undefined`: no answer came, or nothing was sent.
   */
  readonly status: number | undefined
  /** The platform's own id of that request (`X-Request-Id`). */
  readonly requestId: string | undefined
}

/** One tool call that has ended. It holds no argument, no key and nothing that a person said. */
export interface ToolCallRecord {
  /** When it began, ms since 1970. */
  readonly time: number
  /** Unique among all servers. */
  readonly id: string
  readonly tool: string
  /** `ok`, or why not, in one of a few words. */
  readonly outcome: string
  readonly durationMs: number
  /** The beginning of the hash of the API key. */
  readonly key: string
  readonly platform: PlatformFacts
}

/** An HTTP request that was not served. */
export interface RefusedRequest {
  /** Of the answer: 400 to 599. */
  readonly status: number
}

/** One try of a request to the platform. */
export interface PlatformTry {
  /** The operation, such as `agents.list`. */
  readonly operation: string
  /** Of the answer; `undefined` if there was none. */
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

/** Receives what was observed. */
export interface Sink {
  toolCallBegan?(tool: string): void
  toolCallEnded(record: ToolCallRecord): void
  requestRefused(request: RefusedRequest): void
  platformTried?(attempt: PlatformTry): void
  cacheRead?(result: CacheResult): void
  /** `rule` is the rule that refused the call; empty for the other results. */
  dialDecided?(result: DialResult, rule: string): void
}
