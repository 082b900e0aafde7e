import { setTimeout as sleep } from 'node:timers/promises'
import type { CallDetail } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import type { Client } from '../platform/client.ts'
import { ApiError, type Failure, isNotFound } from '../platform/failure.ts'
import { longestCallMs } from '../policy/dial-policy.ts'

/** Interval of `onUnderWay`, ms. */
const underWayEveryMs = 300_000

/** Wait before an unreadable call is read again, ms. */
const retryAfterMs = 15_000

/** Follows calls. Each call has one poll, shared by all requests that wait for it. */
export class CallFollower {
  readonly #polls = new Map<string, CallPoll>()
  readonly #limiter = new PollLimiter()

  /**
   * Resolves with the last reading of the call at its end, at the deadline, or when `signal` fires.
   * Throws ApiError after several failed readings in a row.
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
   * Runs `onEnded` at the call's end, and `onUnderWay` every few minutes before it. An unreadable
   * call triggers neither and is retried.
   */
  async untilEnd(
    followed: FollowedCall,
    client: Client,
    { onUnderWay, onEnded }: { readonly onUnderWay: () => void; readonly onEnded: () => void },
  ): Promise<void> {
    const end = performance.now() + longestCallMs
    while (performance.now() < end) {
      const call = await this.follow(followed, client, { forMs: underWayEveryMs }).catch(
        () => undefined,
      )
      if (!call) await sleep(retryAfterMs, undefined, { ref: false })
      else if (hasEnded(call)) return onEnded()
      else onUnderWay()
    }
  }
}

interface FollowedCall {
  /** Key hash; calls of different keys are kept apart. */
  readonly keyHash: string
  readonly account: string
  readonly callId: string
}

export interface FollowOptions {
  readonly forMs: number
  readonly signal?: AbortSignal | undefined
  /** Receives each reading of the call that differs from the previous one. */
  readonly onChange?: (call: CallDetail) => void
}

/** A request waiting for the call. */
interface Waiter {
  read(call: CallDetail): void
  failed(error: unknown): void
}

/** Consecutive failed readings after which the waiting requests fail. */
const maxFailures = 3

/** Polls one call while a request waits for it. */
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
    // One timer instead of AbortSignal.timeout: a thousand requests may wait.
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
        // Requests may wait one after the other: the poll outlives the gap between them.
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

  /** Age of the call, or of this poll if unknown. */
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

/** The deadline or the caller's abort came before the first reading. */
function notRead(signal: AbortSignal | undefined, afterMs: number): ApiError {
  const failure: Failure = signal?.aborted
    ? { kind: 'cancelled', maybeSent: true }
    : { kind: 'timeout', waitingFor: 'headers', afterMs, maybeSent: true }
  return new ApiError(failure, { ...routes.calls.get, attempts: 1 })
}

/**
 * True if a later reading may succeed: after a failure of the platform, not after a refusal. A call
 * that was never read may not be shown yet.
 */
function mayRecover(error: unknown, isUnread: boolean): boolean {
  if (!(error instanceof ApiError)) return false
  const status = 'status' in error.failure ? error.failure.status : 0
  const isRefusal = status >= 400 && status < 500 && status !== 429
  return !isRefusal || (isUnread && isNotFound(error))
}

/** Polling interval, ms: one second at first, while it rings; longer later. */
export function pollIntervalMs(ageMs: number): number {
  if (ageMs < 10_000) return 1000
  return ageMs < 60_000 ? 2000 : 5000
}

/** Maximum readings per second over all calls. With more calls, each is read less often. */
const maxPerSecond = 20
const batchMs = 1000

/** Keeps all polls within the limit. */
class PollLimiter {
  /** Readings per ms if every call were read at its own interval. */
  #wanted = 0

  /** Changes a call's interval; infinite means that it is not read. */
  change(fromMs: number, toMs: number): void {
    this.#wanted += 1 / toMs - 1 / fromMs
  }

  /**
   * Wait of a call for its next reading, ms: its own interval, or a multiple beyond the limit.
   * Beyond the limit, the readings of each second share a timer, because a timer costs as much as a
   * reading.
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
 * True if a call has ended: it has a final state or an end. The platform may add states: with an
 * unknown one, such as `queued`, the call counts as under way until it is `longestMs` old.
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

/** Time after placing during which the platform may not show a call yet, ms. */
export const shownAfterMs = 30_000

/** True if the call changed between two readings in a way that waiting requests report. */
function hasChanged(before: CallDetail | undefined, call: CallDetail): boolean {
  if (!before) return true
  return (
    before.status !== call.status ||
    before.answer_status !== call.answer_status ||
    (before.messages?.length ?? 0) !== (call.messages?.length ?? 0)
  )
}
