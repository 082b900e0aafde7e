import { ApiError } from '../../api/failure.ts'
import { pause } from '../../api/time-limit.ts'
import type { CallDetail } from '../../contract/call.ts'
import { callStateOf, callStateWords, isGoingOn } from './call-outcome.ts'
import { readUntilEnd } from './follow-call.ts'
import { type FollowRun, withFollowProgress } from './follow-progress.ts'

/** The last reading of a call, or why it could not be read. */
export type FollowedCall = { readonly call: CallDetail } | { readonly error: ApiError }
export type FollowedCalls = ReadonlyMap<string, FollowedCall>

interface CallsToFollow {
  readonly account: string
  /** Each once. */
  readonly callIds: readonly string[]
  readonly forMs: number
  /** Progress that the request has reported before. */
  readonly progressBefore?: number
}

/** Time between the first readings of two calls, ms: a hundred at once would be a burst. */
const betweenFirstMs = 25

/**
 * Reads calls until all have ended, `forMs` is over, the request is cancelled or the client has gone,
 * and reports progress. A call that cannot be read is reported as such.
 */
export function followCalls(calls: CallsToFollow, run: FollowRun): Promise<FollowedCalls> {
  const { account, callIds, forMs } = calls
  const end = performance.now() + forMs
  // However little time there is, each call is read once.
  const gapMs = Math.min(betweenFirstMs, forMs / 4 / callIds.length)
  return withFollowProgress(run, calls, async ({ signal, report }) => {
    const followed = new Map<string, FollowedCall>()
    const note = (callId: string, one: FollowedCall) => {
      followed.set(callId, one)
      report(() => progressText(followed, callIds.length))
    }
    const follow = async (callId: string, at: number) => {
      await pause(at * gapMs, signal)
      const options = {
        forMs: Math.max(0, end - performance.now()),
        signal,
        onChange: (call: CallDetail) => note(callId, { call }),
      }
      const last = readUntilEnd({ account, callId }, run, options).then((call) => ({ call }))
      note(callId, await last.catch(failureOf))
    }
    await Promise.all(callIds.map(follow))
    return followed
  })
}

function failureOf(error: unknown): FollowedCall {
  if (error instanceof ApiError) return { error }
  throw error
}

/** Such as `2 of 3 have ended; ringing: 1`. It holds nothing that was said. */
function progressText(followed: FollowedCalls, count: number): string {
  const states = [...followed.values()].map((one) =>
    'call' in one ? callStateOf(one.call) : 'unknown',
  )
  const goingOn = states.filter(isGoingOn)
  const ended = states.filter((state) => state !== 'unknown' && !isGoingOn(state)).length
  const groups = [...Map.groupBy(goingOn, (state) => state)].map(
    ([state, calls]) => `; ${callStateWords[state]}: ${calls.length}`,
  )
  return `${ended} of ${count} have ended${groups.join('')}`
}
