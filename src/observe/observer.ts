import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type {
  CacheResult,
  DialResult,
  PlatformTry,
  RefusedRequest,
  Sink,
  ToolCallRecord,
} from './records.ts'

/** A tool call that begins. */
export interface BeginningCall {
  /** Name of a tool of this server, never a text of the client. */
  readonly tool: string
  /** The operation of the platform that the tool is for. */
  readonly operation: string
  /** Hash of the API key. */
  readonly owner: string
}

/** Receives what happens, and gives it to the log and the metrics. */
export interface Observer {
  /** Runs a tool call, and records it when it has ended. `outcomeOf` must give one of a few words. */
  toolCall<T>(
    call: BeginningCall,
    run: () => Promise<T>,
    outcomeOf: (ended: { readonly result: T } | { readonly error: unknown }) => string,
  ): Promise<T>
  /** Records a tool call that was refused before it began. */
  toolCallEnded(call: BeginningCall, outcome: string): void
  requestRefused(request: RefusedRequest): void
  platformTried(attempt: PlatformTry): void
  cacheRead(result: CacheResult): void
  dialDecided(result: DialResult, rule: string): void
}

/** `undefined` where nothing is recorded: then nothing is measured either. */
export function createObserver(sinks: readonly Sink[]): Observer | undefined {
  if (sinks.length === 0) return undefined
  const current = new AsyncLocalStorage<CallUnderWay>()
  const nextId = callIds()
  const end = (underWay: CallUnderWay, outcome: string) => {
    const record = { id: nextId(), outcome, ...underWay.facts() }
    for (const sink of sinks) sink.toolCallEnded(record)
  }
  return {
    async toolCall(call, run, outcomeOf) {
      const underWay = new CallUnderWay(call)
      for (const sink of sinks) sink.toolCallBegan?.(call.tool)
      let outcome = ''
      try {
        const result = await current.run(underWay, run)
        outcome = outcomeOf({ result })
        return result
      } catch (error) {
        outcome = outcomeOf({ error })
        throw error
      } finally {
        end(underWay, outcome)
      }
    },
    toolCallEnded(call, outcome) {
      for (const sink of sinks) sink.toolCallBegan?.(call.tool)
      end(new CallUnderWay(call), outcome)
    },
    requestRefused(request) {
      for (const sink of sinks) sink.requestRefused(request)
    },
    platformTried(attempt) {
      current.getStore()?.add(attempt)
      for (const sink of sinks) sink.platformTried?.(attempt)
    },
    cacheRead(result) {
      for (const sink of sinks) sink.cacheRead?.(result)
    },
    dialDecided(result, rule) {
      for (const sink of sinks) sink.dialDecided?.(result, rule)
    },
  }
}

/** As much of the key's hash as tells users apart, in characters of base64url. */
const shownHash = 16

/** Ids of tool calls: a random part for this process, and a number. */
function callIds(): () => string {
  const process = randomUUID().slice(0, 8)
  let count = 0
  return () => `${process}-${++count}`
}

/** A tool call, with what is known of its requests to the platform so far. */
class CallUnderWay {
  readonly #call: BeginningCall
  readonly #time = Date.now()
  readonly #started = performance.now()
  #requests = 0
  #retries = 0
  #last: PlatformTry | undefined

  constructor(call: BeginningCall) {
    this.#call = call
  }

  add(attempt: PlatformTry): void {
    this.#requests++
    if (attempt.isRetry) this.#retries++
    // A tool also reads names and its account. The request that it is for matters more.
    const { operation } = this.#call
    if (attempt.operation === operation || this.#last?.operation !== operation) this.#last = attempt
  }

  facts(): Omit<ToolCallRecord, 'id' | 'outcome'> {
    const { tool, owner } = this.#call
    const { status, requestId } = this.#last ?? {}
    return {
      time: this.#time,
      tool,
      durationMs: performance.now() - this.#started,
      key: owner.slice(0, shownHash),
      platform: {
        requests: this.#requests,
        retries: this.#retries,
        status,
        requestId: safeId(requestId),
      },
    }
  }
}

/** An id that the platform chose, if it is one: it becomes part of a log line. */
const safeId = (id: string | undefined) =>
  id !== undefined && /^[\w.:/+=-]{1,128}$/.test(id) ? id : undefined
