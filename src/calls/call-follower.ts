import { setTimeout as sleep } from 'node:timers/promises'
import type { CallDetail } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import type { Client } from '../platform/client.ts'
import { ApiError, type Failure, isNotFound } from '../platform/failure.ts'
import { longestCallMs } from '../policy/dial-policy.ts'

/** Interval between two runs of `onRunning`, ms. */
const runningEveryMs = 300_000

/** Time before an unreadable call is read again, ms. */
const retryAfterMs = 15_000

/** Follows telephone calls. Each call is polled once, for all requests that wait for it. */
export class CallFollower {
  readonly #polls = new Map<string, CallPoll>()
  readonly #limiter = new PollLimiter()

  /**
   * Resolves with the last reading of the call: at its end, at the deadline, or when `signal`
   * fires. Throws ApiError after several failed polls in a row.
   */
  follow(followed: FollowedCall, client: Client, options: FollowOptions): Promise<CallDetail> {
    const key = JSON.stringify(followed)
    let poll = this.#polls.get(key)
    if (!poll) {
      const onEnd = () => this.#polls.delete(key)
      poll = new CallPoll(followed, { client, limiter: this.#limiter, onEnd })
      this.#polls.set(key, poll)
    }
    return poll.wait(options)
  }

  /**
   * Runs `onEnded` when the call has ended, and `onRunning` every few minutes until then. A failed
   * reading triggers neither, and the call is read again.
   */
  async untilEnd(
    followed: FollowedCall,
    client: Client,
    { onRunning, onEnded }: { readonly onRunning: () => void; readonly onEnded: () => void },
  ): Promise<void> {
    const end = performance.now() + longestCallMs
    while (performance.now() < end) {
      const call = await this.follow(followed, client, { forMs: runningEveryMs }).catch(
        () => undefined,
      )
      if (!call) await sleep(retryAfterMs, undefined, { ref: false })
      else if (hasEnded(call)) return onEnded()
      else onRunning()
    }
  }
}

interface FollowedCall {
  /** Hash of the API key. Each API key has its own polls. */
  readonly keyHash: string
  readonly account: string
  readonly callId: string
}

export interface FollowOptions {
  readonly forMs: number
  readonly signal?: AbortSignal | undefined
  /** Called with each reading that differs from the previous one. */
  readonly onChange?: (call: CallDetail) => void
}

/** A request that waits for the telephone call. */
interface Waiter {
  read(call: CallDetail): void
  failed(error: unknown): void
}

/** Consecutive failed polls after which the waiting requests fail. */
const maxFailures = 3

/** Polls one telephone call while at least one request waits for it. */
class CallPoll {
  readonly #followed: FollowedCall
  readonly #client: Client
  readonly #limiter: PollLimiter
  readonly #waiters = new Set<Waiter>()
  readonly #started = Date.now()
  #intervalMs = Number.POSITIVE_INFINITY
  #last: CallDetail | undefined

  constructor(
    followed: FollowedCall,
    { client, limiter, onEnd }: { client: Client; limiter: PollLimiter; onEnd: () => void },
  ) {
    this.#followed = followed
    this.#client = client
    this.#limiter = limiter
    void this.#run(onEnd)
  }

  wait({ forMs, signal, onChange }: FollowOptions): Promise<CallDetail> {
    const { promise, resolve, reject } = Promise.withResolvers<CallDetail>()
    let seen: CallDetail | undefined
    const began = performance.now()
    const stop = () =>
      this.#last ? resolve(this.#last) : reject(notRead(signal, performance.now() - began))
    // setTimeout is cheaper than AbortSignal.timeout, and a thousand requests may wait.
    const timer = setTimeout(stop, forMs).unref()
    const waiter: Waiter = {
      failed: reject,
      read(call) {
        if (hasEnded(call)) return resolve(call)
        if (hasChanged(seen, call)) onChange?.(call)
        seen = call
      },
    }
    this.#waiters.add(waiter)
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    else if (this.#last) waiter.read(this.#last)
    return promise.finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      this.#waiters.delete(waiter)
    })
  }

  async #run(onEnd: () => void): Promise<void> {
    let failures = 0
    try {
      do {
        try {
          const call = await this.#read()
          failures = 0
          this.#last = call
          for (const waiter of [...this.#waiters]) waiter.read(call)
          if (hasEnded(call)) return
        } catch (error) {
          failures++
          if (!mayRecover(error, this.#last === undefined) || failures >= maxFailures)
            return this.#fail(error)
        }
        await sleep(this.#waitMs(), undefined, { ref: false })
        // Checked after the pause, because a request may have started to wait during the pause.
      } while (this.#waiters.size > 0)
    } finally {
      this.#limiter.change(this.#intervalMs, Number.POSITIVE_INFINITY)
      onEnd()
    }
  }

  #waitMs(): number {
    const intervalMs = pollIntervalMs(this.#ageMs())
    this.#limiter.change(this.#intervalMs, intervalMs)
    this.#intervalMs = intervalMs
    return this.#limiter.waitMs(intervalMs)
  }

  /** Age of the call, ms; if that is unknown, age of this poll. */
  #ageMs(): number {
    const began = Date.parse(this.#last?.created ?? this.#last?.started_at ?? '')
    return Date.now() - Math.min(this.#started, Number.isNaN(began) ? this.#started : began)
  }

  #read(): Promise<CallDetail> {
    const { account, callId } = this.#followed
    const params = { account_id: account, call_id: callId }
    return this.#client.call(routes.calls.get, { params, query: {} })
  }

  #fail(error: unknown): void {
    for (const waiter of [...this.#waiters]) waiter.failed(error)
  }
}

/**
 * Error for a wait that ended before the first reading: at the deadline, or by the caller's abort.
 */
function notRead(signal: AbortSignal | undefined, afterMs: number): ApiError {
  const failure: Failure = signal?.aborted
    ? { kind: 'cancelled', maybeSent: true }
    : { kind: 'timeout', waitingFor: 'headers', afterMs, maybeSent: true }
  return new ApiError(failure, { ...routes.calls.get, attempts: 1 })
}

/**
 * True if a later reading may succeed. After a refusal (4xx except 429) it cannot, unless the
 * refusal is a 404 for a call that was never read: the platform may not show a new call yet.
 */
function mayRecover(error: unknown, isUnread: boolean): boolean {
  if (!(error instanceof ApiError)) return false
  const status = 'status' in error.failure ? error.failure.status : 0
  const isRefusal = status >= 400 && status < 500 && status !== 429
  return !isRefusal || (isUnread && isNotFound(error))
}

/** Polling interval by the age of a call, ms. Short at first, while the call rings. */
export function pollIntervalMs(ageMs: number): number {
  if (ageMs < 10_000) return 1000
  return ageMs < 60_000 ? 2000 : 5000
}

/**
 * Maximum polls per second over all telephone calls. With more calls, each is polled less often.
 */
const maxPerSecond = 20

/** Above the limit, polls are due at multiples of this time, ms: see `waitMs`. */
const batchMs = 1000

/** Lengthens the intervals of all polls so that together they stay within `maxPerSecond`. */
class PollLimiter {
  /** Polls per ms of all calls together, if each were polled at its own interval. */
  #wanted = 0

  /** Changes the interval of a call. Infinity: the call is not polled. */
  change(fromMs: number, toMs: number): void {
    this.#wanted += 1 / toMs - 1 / fromMs
  }

  /**
   * Time until the next poll of a call, ms: its own interval, lengthened if all calls together
   * exceed the limit. Above the limit, all polls of one second are due at the same time, because
   * separate timers would cost as much as the polls.
   */
  waitMs(intervalMs: number): number {
    const times = (this.#wanted * 1000) / maxPerSecond
    if (times <= 1) return intervalMs
    const at = Date.now() + intervalMs * times
    return intervalMs * times + (batchMs - (at % batchMs))
  }
}

/** Final states of a call, by the platform's reference. */
const finalStates = new Set(['completed', 'failed', 'transferred'])

/**
 * True if a call has ended, by its final state or its end time. The platform may add states, such
 * as `queued`. A call in an unknown state counts as running until it is `longestMs` old.
 */
export function hasEnded(
  { status, ended_at, created, started_at }: CallDetail,
  longestMs = longestCallMs,
): boolean {
  if (ended_at || finalStates.has(status ?? '')) return true
  if (!status || status === 'in_progress') return false
  const began = Date.parse(started_at ?? created ?? '')
  return Date.now() - began > longestMs
}

/** Time for which the platform may not show a newly placed call, ms. */
export const shownAfterMs = 30_000

/** True if the call differs from the previous reading in a value that waiting requests report. */
function hasChanged(before: CallDetail | undefined, call: CallDetail): boolean {
  if (!before) return true
  return (
    before.status !== call.status ||
    before.answer_status !== call.answer_status ||
    (before.messages?.length ?? 0) !== (call.messages?.length ?? 0)
  )
}
