import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../api/client.ts'
import { ApiError, type Failure } from '../api/failure.ts'
import type { CallDetail } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'

/** Who wants to know of which call. */
export interface Followed {
  /** Whose key it is; calls of different keys are never mixed up. */
  readonly owner: string
  readonly account: string
  readonly callId: string
}

/** Follows calls: one reading at a time of each, however many wait for it. */
export interface Follower {
  /**
   * Resolves with the call as it was last read: when it has ended, when it differs from `seen`, or
   * when `signal` fires. Throws ApiError when the call cannot be read, for longer than a moment.
   */
  next(
    followed: Followed,
    client: Client,
    seen: CallDetail | undefined,
    signal: AbortSignal,
  ): Promise<CallDetail>
  /** Resolves when the call has ended or can no longer be read; `tick` runs every few minutes. */
  untilEnd(followed: Followed, client: Client, tick: () => void): Promise<void>
}

/** The longest that a call is followed to its end, and how often it is said to go on, ms. */
const longestCallMs = 12 * 3_600_000
const tickMs = 300_000

/** A call goes on until it is in a state that it does not leave. */
export const hasEnded = ({ status, ended_at }: CallDetail): boolean =>
  Boolean(ended_at) || (status !== undefined && status !== null && status !== 'in_progress')

/** How often a call is read: quick at first, when ringing ends; slower the longer it lasts. */
export function pollMs(followedForMs: number): number {
  if (followedForMs < 10_000) return 1000
  return followedForMs < 60_000 ? 2000 : 5000
}

/** Readings that may fail in a row before those who wait are told. */
const mostFailures = 3

type Listener = (update: { call: CallDetail } | { error: unknown }) => void

export function createFollower(): Follower {
  const polls = new Map<string, Poll>()
  const follower: Follower = {
    async untilEnd(followed, client, tick) {
      const end = Date.now() + longestCallMs
      while (Date.now() < end) {
        const timer = AbortSignal.timeout(tickMs)
        const call = await lastUntil(timer, followed, client).catch(() => undefined)
        if (!call || hasEnded(call)) return
        tick()
      }
    },
    next(followed, client, seen, signal) {
      const key = JSON.stringify(followed)
      let poll = polls.get(key)
      if (!poll) {
        poll = new Poll(followed, client, () => polls.delete(key))
        polls.set(key, poll)
      }
      return poll.next(seen, signal)
    },
  }
  /** The call as it was when it ended, or when time was up. */
  const lastUntil = async (timer: AbortSignal, followed: Followed, client: Client) => {
    let call = await follower.next(followed, client, undefined, timer)
    while (!hasEnded(call) && !timer.aborted)
      call = await follower.next(followed, client, call, timer)
    return call
  }
  return follower
}

/** The reading of one call, as long as somebody waits for it. */
class Poll {
  readonly #followed: Followed
  readonly #client: Client
  readonly #onIdle: () => void
  readonly #listeners = new Set<Listener>()
  readonly #started = Date.now()
  #last: CallDetail | undefined

  constructor(followed: Followed, client: Client, onIdle: () => void) {
    this.#followed = followed
    this.#client = client
    this.#onIdle = onIdle
    void this.#run()
  }

  next(seen: CallDetail | undefined, signal: AbortSignal): Promise<CallDetail> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#listeners.delete(listener)
        signal.removeEventListener('abort', stop)
        act()
      }
      const listener: Listener = (update) => {
        if ('error' in update) settle(() => reject(update.error))
        else if (hasEnded(update.call) || isNews(seen, update.call))
          settle(() => resolve(update.call))
      }
      const stop = () => {
        const known = this.#last ?? seen
        settle(() => (known ? resolve(known) : reject(notRead(signal))))
      }
      this.#listeners.add(listener)
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop)
      if (this.#last) listener({ call: this.#last })
    })
  }

  async #run(): Promise<void> {
    let failures = 0
    // Those who wait may come one after the other: a poll outlives a short gap between them.
    for (let idle = 0; idle < 2; idle = this.#listeners.size > 0 ? 0 : idle + 1) {
      try {
        this.#last = await this.#read()
        failures = 0
        this.#tell({ call: this.#last })
        if (hasEnded(this.#last)) break
      } catch (error) {
        failures++
        if (!mayPass(error) || failures >= mostFailures) {
          this.#onIdle()
          return this.#tell({ error })
        }
      }
      await sleep(pollMs(Date.now() - this.#started), undefined, { ref: false })
    }
    this.#onIdle()
  }

  #read(): Promise<CallDetail> {
    const { account, callId } = this.#followed
    const params = { account_id: account, call_id: callId }
    return this.#client.call(routes.calls.get, { params, query: {} })
  }

  #tell(update: Parameters<Listener>[0]): void {
    for (const listener of [...this.#listeners]) listener(update)
  }
}

/** Nothing was read before the one who waits gave up, or time was up. */
function notRead({ reason }: AbortSignal): ApiError {
  const isLate = reason instanceof Error && reason.name === 'TimeoutError'
  const failure: Failure = isLate
    ? { kind: 'timeout', waitingFor: 'headers', afterMs: 0, maybeSent: true }
    : { kind: 'cancelled', maybeSent: true }
  return new ApiError(failure, { ...routes.calls.get, attempts: 1 })
}

/** What a platform that has a bad moment says; what it refuses stays refused. */
const mayPass = (error: unknown) =>
  error instanceof ApiError &&
  !(
    'status' in error.failure &&
    error.failure.status >= 400 &&
    error.failure.status < 500 &&
    error.failure.status !== 429
  )

/** Whether somebody who has seen one reading learns something from another. */
function isNews(seen: CallDetail | undefined, call: CallDetail): boolean {
  if (!seen) return true
  return (
    seen.status !== call.status ||
    seen.answer_status !== call.answer_status ||
    (seen.messages?.length ?? 0) !== (call.messages?.length ?? 0)
  )
}
