import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../api/client.ts'
import type { CallDetail } from '../contract/call.ts'
import { longestCallMs } from '../policy/dial-policy.ts'
import { CallPoll, type FollowedCall, type FollowOptions } from './call-poll.ts'
import { hasEnded } from './call-state.ts'
import { PollLimiter } from './poll-interval.ts'

/** Follows calls: each is read once at a time, however many requests wait for it. */
export interface CallFollower {
  /**
   * Resolves with the last reading of the call when it has ended, time is up, or `signal` fires.
   * Throws ApiError when the call cannot be read several times in a row.
   */
  follow(followed: FollowedCall, client: Client, options: FollowOptions): Promise<CallDetail>
  /**
   * Runs `onEnded` when the call has ended, and `onUnderWay` every few minutes while it goes on. A
   * call that cannot be read is neither: it is tried again.
   */
  untilEnd(followed: FollowedCall, client: Client, events: CallEvents): Promise<void>
}

export interface CallEvents {
  readonly onUnderWay: () => void
  readonly onEnded: () => void
}

/** How often `onUnderWay` runs, ms. */
const underWayEveryMs = 300_000

/** When a call that could not be read is tried again, ms. */
const retryAfterMs = 15_000

export function createCallFollower(): CallFollower {
  const polls = new Map<string, CallPoll>()
  const limiter = new PollLimiter()
  const follow: CallFollower['follow'] = (followed, client, options) => {
    const key = JSON.stringify(followed)
    let poll = polls.get(key)
    if (!poll) {
      poll = new CallPoll(followed, { client, limiter, onEnd: () => polls.delete(key) })
      polls.set(key, poll)
    }
    return poll.wait(options)
  }
  return {
    follow,
    async untilEnd(followed, client, { onUnderWay, onEnded }) {
      const end = performance.now() + longestCallMs
      while (performance.now() < end) {
        const reading = follow(followed, client, { forMs: underWayEveryMs })
        const call = await reading.catch(() => undefined)
        if (!call) await sleep(retryAfterMs, undefined, { ref: false })
        else if (hasEnded(call)) return onEnded()
        else onUnderWay()
      }
    },
  }
}
