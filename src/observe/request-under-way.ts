import { randomUUID } from 'node:crypto'
import type { BeginningRequest, PlatformTry, RequestOutcome, RequestRecord } from './records.ts'
import type { RequestSpan } from './tracing.ts'

/** A tool call that begins. */
export interface BeginningCall {
  /** Name of a tool of this server, never a text of the client. */
  readonly tool: string
  /** The operation of the platform that the tool is for. */
  readonly operation: string
}

/** As much of the key's hash as tells users apart, in characters of base64url. */
export const shownHash = (owner: string): string => owner.slice(0, 16)

/** Ids of requests: a random part for this process, and a number. */
export function requestIds(): () => string {
  const process = randomUUID().slice(0, 8)
  let count = 0
  return () => `${process}-${++count}`
}

/** A request of a client, with what is known of its requests to the platform so far. */
export class RequestUnderWay {
  readonly #beginning: BeginningRequest
  readonly #time = Date.now()
  readonly #started = performance.now()
  /** Absent where traces are not recorded. */
  readonly span: RequestSpan | undefined
  #call: BeginningCall | undefined
  #callOutcome: string | undefined
  #requests = 0
  #retries = 0
  #last: PlatformTry | undefined

  constructor(beginning: BeginningRequest, span: RequestSpan | undefined) {
    this.#beginning = beginning
    this.span = span
  }

  callBegan(call: BeginningCall): void {
    this.#call = call
  }

  callEnded(outcome: string): void {
    this.#callOutcome = outcome
  }

  add(attempt: PlatformTry): void {
    this.#requests++
    if (attempt.isRetry) this.#retries++
    // A tool also reads names and its account. The request that it is for matters more.
    const operation = this.#call?.operation
    const isLess =
      operation !== undefined &&
      attempt.operation !== operation &&
      this.#last?.operation === operation
    if (!isLess) this.#last = attempt
  }

  /** How it ended: a tool call in the words for tool calls. */
  outcome({ outcome, code }: RequestOutcome): RequestOutcome {
    return { outcome: code === undefined ? (this.#callOutcome ?? outcome) : outcome, code }
  }

  record(id: string, { outcome, code }: RequestOutcome): RequestRecord {
    const { method, owner } = this.#beginning
    const { status, requestId } = this.#last ?? {}
    return {
      time: this.#time,
      id,
      method,
      tool: this.#call?.tool,
      outcome,
      code,
      durationMs: performance.now() - this.#started,
      key: owner && shownHash(owner),
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

/** An id that the platform chose, if it is one: it becomes part of a log line. */
const safeId = (id: string | undefined) =>
  id !== undefined && /^[\w.:/+=-]{1,128}$/.test(id) ? id : undefined
