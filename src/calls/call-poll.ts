import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../api/client.ts'
import { ApiError, type Failure } from '../api/failure.ts'
import type { CallDetail } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { hasChanged, hasEnded, isMissing } from './call-state.ts'
import { type PollLimiter, pollIntervalMs } from './poll-interval.ts'

/** The call that is followed, and by whose key. */
export interface FollowedCall {
  /** Hash of the key; calls of different keys are never mixed up. */
  readonly owner: string
  readonly account: string
  readonly callId: string
}

export interface FollowOptions {
  readonly forMs: number
  readonly signal?: AbortSignal | undefined
  /** Called with each reading that differs from the one before. */
  readonly onChange?: (call: CallDetail) => void
}

/** One request that waits for the call. */
interface Waiter {
  read(call: CallDetail): void
  failed(error: unknown): void
}

/** Failed readings in a row after which the waiting requests fail. */
const maxFailures = 3

/** Reads one call again and again, as long as a request waits for it. */
export class CallPoll {
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
    // One timer and no AbortSignal.timeout: a thousand requests may wait at once.
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
        // Requests may wait one after the other: the poll outlives the gap between two of them.
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

  /** The age of the call if it is known, else of this poll. */
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

/** Nothing was read before time was up, or before the caller gave up. */
function notRead(signal: AbortSignal | undefined, afterMs: number): ApiError {
  const failure: Failure = signal?.aborted
    ? { kind: 'cancelled', maybeSent: true }
    : { kind: 'timeout', waitingFor: 'headers', afterMs, maybeSent: true }
  return new ApiError(failure, { ...routes.calls.get, attempts: 1 })
}

/**
 * Whether a later reading may succeed: after a failure of the platform, not after a refusal. A call
 * that was never read may not be shown yet.
 */
function mayRecover(error: unknown, isUnread: boolean): boolean {
  if (!(error instanceof ApiError)) return false
  const status = 'status' in error.failure ? error.failure.status : 0
  const isRefusal = status >= 400 && status < 500 && status !== 429
  return !isRefusal || (isUnread && isMissing(error))
}
