import { AsyncLocalStorage } from 'node:async_hooks'
import type {
  BeginningRequest,
  CacheResult,
  DialResult,
  PlatformTry,
  RefusedRequest,
  RequestOutcome,
  Sink,
} from './records.ts'
import { type BeginningCall, RequestUnderWay, requestIds, shownHash } from './request-under-way.ts'
import type { BeginTry, Tracing } from './tracing.ts'

/** What came of something: its result, or what it has thrown. */
export type Ended<T> = { readonly result: T } | { readonly error: unknown }

/** Receives what happens, and gives it to the log, the metrics and the traces. */
export interface Observer {
  /** Runs a request of a client, and records it when it has ended. */
  request<T>(
    request: BeginningRequest,
    run: () => Promise<T>,
    outcomeOf: (ended: Ended<T>) => RequestOutcome,
  ): Promise<T>
  /** Records a request that was answered before it began. */
  requestEnded(request: BeginningRequest, outcome: RequestOutcome): void
  /** Runs the tool call of the current request. `outcomeOf` must give one of a few words. */
  toolCall<T>(
    call: BeginningCall,
    run: () => Promise<T>,
    outcomeOf: (ended: Ended<T>) => string,
  ): Promise<T>
  /** Records that the tool call of the current request was refused before it began. */
  toolCallEnded(call: BeginningCall, outcome: string): void
  /** `owner`: hash of the API key that the request brought, valid or not. */
  requestRefused(
    request: Omit<RefusedRequest, 'key'> & { readonly owner: string | undefined },
  ): void
  platformTried(attempt: PlatformTry): void
  /** Begins the span of a request to the platform; `undefined` where traces are not recorded. */
  readonly beginTry: BeginTry | undefined
  cacheRead(result: CacheResult): void
  dialDecided(result: DialResult, rule: string): void
}

/** `undefined` where nothing is recorded: then nothing is measured either. */
export function createObserver(sinks: readonly Sink[], tracing?: Tracing): Observer | undefined {
  if (sinks.length === 0 && !tracing) return undefined
  const current = new AsyncLocalStorage<RequestUnderWay>()
  return {
    ...requestObserver(sinks, tracing, current),
    ...callObserver(sinks, current),
    requestRefused({ owner, ...request }) {
      const record = { ...request, key: owner && shownHash(owner) }
      for (const sink of sinks) sink.requestRefused?.(record)
    },
    platformTried(attempt) {
      current.getStore()?.add(attempt)
      for (const sink of sinks) sink.platformTried?.(attempt)
    },
    beginTry: tracing?.beginTry,
    cacheRead(result) {
      for (const sink of sinks) sink.cacheRead?.(result)
    },
    dialDecided(result, rule) {
      for (const sink of sinks) sink.dialDecided?.(result, rule)
    },
  }
}

/** Does work, and says what came of it before its result is passed on. */
async function observed<T>(work: () => Promise<T>, onEnd: (ended: Ended<T>) => void): Promise<T> {
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

type Current = AsyncLocalStorage<RequestUnderWay>

function requestObserver(
  sinks: readonly Sink[],
  tracing: Tracing | undefined,
  current: Current,
): Pick<Observer, 'request' | 'requestEnded'> {
  const nextId = requestIds()
  const begin = (request: BeginningRequest) =>
    new RequestUnderWay(request, tracing?.beginRequest(request))
  const end = (underWay: RequestUnderWay, ended: RequestOutcome) => {
    const outcome = underWay.outcome(ended)
    underWay.span?.end(outcome)
    const record = underWay.record(nextId(), outcome)
    for (const sink of sinks) sink.requestEnded?.(record)
  }
  return {
    request(request, run, outcomeOf) {
      const underWay = begin(request)
      const { span } = underWay
      const work = () => current.run(underWay, () => (span ? span.run(run) : run()))
      return observed(work, (ended) => end(underWay, outcomeOf(ended)))
    },
    requestEnded: (request, outcome) => end(begin(request), outcome),
  }
}

function callObserver(
  sinks: readonly Sink[],
  current: Current,
): Pick<Observer, 'toolCall' | 'toolCallEnded'> {
  const began = (call: BeginningCall) => {
    current.getStore()?.callBegan(call)
    for (const sink of sinks) sink.toolCallBegan?.(call.tool)
  }
  const ended = ({ tool }: BeginningCall, outcome: string, durationMs: number) => {
    current.getStore()?.callEnded(outcome)
    for (const sink of sinks) sink.toolCallEnded?.({ tool, outcome, durationMs })
  }
  return {
    toolCall(call, run, outcomeOf) {
      const started = performance.now()
      began(call)
      return observed(run, (what) => ended(call, outcomeOf(what), performance.now() - started))
    },
    toolCallEnded(call, outcome) {
      began(call)
      ended(call, outcome, 0)
    },
  }
}
