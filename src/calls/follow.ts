import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../api/client.ts'
import { ApiError, type Failure } from '../api/failure.ts'
import type { CallDetail } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { Pace, pollMs } from './pace.ts'

/** Who wants to know of which call. */
export interface Followed {
  /** Whose key it is; calls of different keys are never mixed up. */
  readonly owner: string
  readonly account: string
  readonly callId: string
}

/** How somebody waits. */
export interface Waiting {
  readonly forMs: number
  readonly signal?: AbortSignal | undefined
  /** Told of each reading that says something new. */
  readonly onNews?: (call: CallDetail) => void
}

/** Follows calls: one reading at a time of each, however many wait for it. */
export interface Follower {
  /**
   * Resolves with the call as it was last read: when it has ended, time is up, or `signal` fires.
   * Throws ApiError when the call cannot be read, for longer than a moment.
   */
  follow(followed: Followed, client: Client, waiting: Waiting): Promise<CallDetail>
  /**
   * Runs `ended` when a reading shows that the call has ended, and `tick` every few minutes while
   * readings show that it goes on. While it cannot be read neither is said, and it is tried again.
   */
  untilEnd(
    followed: Followed,
    client: Client,
    then: { readonly tick: () => void; readonly ended: () => void },
  ): Promise<void>
}

/** The longest that a call is followed to its end, and how often it is said to go on, ms. */
const longestCallMs = 12 * 3_600_000
const tickMs = 300_000

/** When a call that could not be read is tried again, to see whether it has ended, ms. */
const anewMs = 15_000

/** The states that a call does not leave [R]. */
const finalStates = new Set(['completed', 'failed', 'transferred'])

/**
 * A call goes on until it is in a state that it does not leave, or says when it ended. States are an
 * open set: one that is not known, such as `queued`, says nothing, until the call is older than a
 * call can be.
 */
export function hasEnded({ status, ended_at, created, started_at }: CallDetail): boolean {
  if (ended_at || finalStates.has(status ?? '')) return true
  if (!status || status === 'in_progress') return false
  const began = Date.parse(started_at ?? created ?? '')
  return Date.now() - began > longestCallMs
}

/** Readings that may fail in a row before those who wait are told. */
const mostFailures = 3

/** How long after it was placed a call may be missing on the platform, ms. */
export const shownAfterMs = 30_000

export function createFollower(): Follower {
  const polls = new Map<string, Poll>()
  const pace = new Pace()
  const follower: Follower = {
    async untilEnd(followed, client, { tick, ended }) {
      const end = performance.now() + longestCallMs
      while (performance.now() < end) {
        const waiting = { forMs: tickMs }
        const call = await follower.follow(followed, client, waiting).catch(() => undefined)
        if (!call) await sleep(anewMs, undefined, { ref: false })
        else if (hasEnded(call)) return ended()
        else tick()
      }
    },
    follow(followed, client, waiting) {
      const key = JSON.stringify(followed)
      let poll = polls.get(key)
      if (!poll) {
        poll = new Poll(followed, { client, pace, onEnd: () => polls.delete(key) })
        polls.set(key, poll)
      }
      return poll.wait(waiting)
    },
  }
  return follower
}

/** Somebody who waits. */
interface Waiter {
  read(call: CallDetail): void
  failed(error: unknown): void
}

/** The reading of one call, as long as somebody waits for it. */
class Poll {
  readonly #followed: Followed
  readonly #client: Client
  readonly #pace: Pace
  readonly #waiters = new Set<Waiter>()
  readonly #started = Date.now()
  #everyMs = Number.POSITIVE_INFINITY
  #last: CallDetail | undefined

  constructor(
    followed: Followed,
    { client, pace, onEnd }: { client: Client; pace: Pace; onEnd: () => void },
  ) {
    this.#followed = followed
    this.#client = client
    this.#pace = pace
    void this.#run(onEnd)
  }

  wait({ forMs, signal, onNews }: Waiting): Promise<CallDetail> {
    const { promise, resolve, reject } = Promise.withResolvers<CallDetail>()
    let seen: CallDetail | undefined
    const began = performance.now()
    const stop = () =>
      this.#last ? resolve(this.#last) : reject(notRead(signal, performance.now() - began))
    // One timer and no signal of its own: a thousand may wait at once.
    const timer = setTimeout(stop, forMs).unref()
    const waiter: Waiter = {
      failed: reject,
      read(call) {
        if (hasEnded(call)) return resolve(call)
        if (isNews(seen, call)) onNews?.(call)
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
          this.#tell(call)
          if (hasEnded(call)) return
        } catch (error) {
          failures++
          if (!mayPass(error, this.#last === undefined) || failures >= mostFailures)
            return this.#fail(error)
        }
        await sleep(this.#pauseMs(), undefined, { ref: false })
        // Those who wait may come one after the other: a poll outlives a gap between them.
      } while (this.#waiters.size > 0)
    } finally {
      this.#pace.change(this.#everyMs, Number.POSITIVE_INFINITY)
      onEnd()
    }
  }

  #pauseMs(): number {
    const everyMs = pollMs(this.#age())
    this.#pace.change(this.#everyMs, everyMs)
    this.#everyMs = everyMs
    return this.#pace.stretched(everyMs)
  }

  /** How long the call has lasted, as far as is known, ms: who waits anew need not begin anew. */
  #age(): number {
    const began = Date.parse(this.#last?.created ?? this.#last?.started_at ?? '')
    return Date.now() - Math.min(this.#started, Number.isNaN(began) ? this.#started : began)
  }

  #read(): Promise<CallDetail> {
    const { account, callId } = this.#followed
    const params = { account_id: account, call_id: callId }
    return this.#client.call(routes.calls.get, { params, query: {} })
  }

  #tell(call: CallDetail): void {
    this.#last = call
    for (const waiter of [...this.#waiters]) waiter.read(call)
  }

  #fail(error: unknown): void {
    for (const waiter of [...this.#waiters]) waiter.failed(error)
  }
}

/** Nothing was read before time was up, or the one who waits gave up. */
function notRead(signal: AbortSignal | undefined, afterMs: number): ApiError {
  const failure: Failure = signal?.aborted
    ? { kind: 'cancelled', maybeSent: true }
    : { kind: 'timeout', waitingFor: 'headers', afterMs, maybeSent: true }
  return new ApiError(failure, { ...routes.calls.get, attempts: 1 })
}

/**
 * What a platform that has a bad moment says; what it refuses stays refused. A call that was placed
 * a moment ago it may not show yet.
 */
function mayPass(error: unknown, isUnseen: boolean): boolean {
  if (!(error instanceof ApiError)) return false
  const status = 'status' in error.failure ? error.failure.status : 0
  const isRefusal = status >= 400 && status < 500 && status !== 429
  return !isRefusal || (isUnseen && isMissing(error))
}

export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && 'status' in error.failure && error.failure.status === 404

/** Whether somebody who has seen one reading learns something from another. */
function isNews(seen: CallDetail | undefined, call: CallDetail): boolean {
  if (!seen) return true
  return (
    seen.status !== call.status ||
    seen.answer_status !== call.answer_status ||
    (seen.messages?.length ?? 0) !== (call.messages?.length ?? 0)
  )
}
