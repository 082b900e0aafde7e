import { setTimeout as sleep } from 'node:timers/promises'
import type { FollowOptions } from '../../src/calls/call-follower.ts'
import type { CallDetail } from '../../src/contract/call.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { mayShowLater } from '../../src/platform/sessions/account.ts'
import { pause } from '../../src/platform/time-limit.ts'
import type { Run } from '../../src/tool/tool.ts'
import { callProgressText, callStateOf, callStateWords, isGoingOn } from './call-state.ts'

/** Default time for following calls, ms. */
export const followMs = 45_000

interface CallAddress {
  readonly account: string
  readonly callId: string
}

/**
 * Polls a call until the call ends, `forMs` is over, the request is cancelled or the client
 * disconnects. Reports progress. Throws ApiError.
 */
export const followCall = (
  address: CallAddress,
  run: FollowRun,
  forMs: number,
): Promise<CallDetail> =>
  withFollowProgress(run, { forMs }, ({ signal, report }) => {
    const onChange = (call: CallDetail) => report(() => callProgressText(call))
    return readUntilEnd(address, run, { forMs, signal, onChange })
  })

/** Poll interval for a call that the platform does not show yet, ms. */
const lookEveryMs = 1000

/**
 * Polls a call until it ends. Retries a 404 while the platform may not show the call yet (see
 * `mayShowLater`). Throws ApiError.
 */
async function readUntilEnd(
  address: CallAddress,
  { session }: Pick<Run, 'session'>,
  { forMs, signal, onChange }: Required<FollowOptions>,
): Promise<CallDetail> {
  const { client, callServices, keyHash } = session
  const end = performance.now() + forMs
  for (;;) {
    const restMs = Math.max(0, end - performance.now())
    try {
      const options = { forMs: restMs, signal, onChange }
      return await callServices.follower.follow({ keyHash, ...address }, client, options)
    } catch (error) {
      const isOver = signal?.aborted || performance.now() + lookEveryMs > end
      if (isOver || !(await mayShowLater(error, address, session))) throw error
      await pause(lookEveryMs, signal)
    }
  }
}

/** Result of the last poll of a call. */
export type LastPoll = { readonly call: CallDetail } | { readonly error: ApiError }
/** Results of the last polls, by call id. */
export type LastPolls = ReadonlyMap<string, LastPoll>

interface CallsToFollow extends Following {
  readonly account: string
  /** Distinct ids of the calls to follow. */
  readonly callIds: readonly string[]
}

/**
 * Interval between the first polls of two calls, ms. Avoids a burst for a batch of a hundred calls.
 */
const betweenFirstMs = 25

/**
 * Polls calls until all have ended, `forMs` is over, the request is cancelled or the client
 * disconnects. Reports progress. A call that cannot be read has an error in the result.
 */
export function followCalls(calls: CallsToFollow, run: FollowRun): Promise<LastPolls> {
  const { account, callIds, forMs } = calls
  const end = performance.now() + forMs
  // Every call is polled at least once, however short the time.
  const gapMs = Math.min(betweenFirstMs, forMs / 4 / callIds.length)
  return withFollowProgress(run, calls, async ({ signal, report }) => {
    const followed = new Map<string, LastPoll>()
    const note = (callId: string, one: LastPoll) => {
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
      try {
        note(callId, { call: await readUntilEnd({ account, callId }, run, options) })
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        note(callId, { error })
      }
    }
    await Promise.all(callIds.map(follow))
    return followed
  })
}

/**
 * Progress of the calls, such as `2 of 3 have ended; ringing: 1`. Contains nothing from the
 * conversations.
 */
function progressText(followed: LastPolls, count: number): string {
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

/** Minimum interval between two progress messages, ms. */
const progressEveryMs = 2000
/*
 * Progress messages end before the result: some clients attribute a message that arrives after the
 * result to another tool call.
 */

/** Time before the deadline in which no progress message is sent, ms. */
const noProgressBeforeEndMs = 1500
/** Minimum time between the last progress message and the result, ms. */
const beforeResultMs = 250

/** Interval of repeated progress messages while nothing changes, ms. */
const heartbeatMs = 10_000

export type FollowRun = Pick<Run, 'session' | 'signal' | 'shutdown' | 'progress'>

interface Following {
  readonly forMs: number
  /** Progress value that this request had reported before it began to follow. */
  readonly progressBefore?: number
}

interface Reporting {
  /** Fires when the request is cancelled or the client has disconnected. */
  readonly signal: AbortSignal
  /** Reports progress. `text` is called only when a client is notified. */
  readonly report: (text: () => string) => void
}

/** Runs `follow` with throttled progress messages, and none right before the result. */
export async function withFollowProgress<T>(
  { signal: cancelled, shutdown, progress }: FollowRun,
  { forMs, progressBefore = 0 }: Following,
  follow: (reporting: Reporting) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.any([cancelled, shutdown].filter((one) => one !== undefined))
  const start = performance.now()
  let lastAt = Number.NEGATIVE_INFINITY
  let latest: (() => string) | undefined
  const report = (text: () => string) => {
    latest = text
    const now = performance.now()
    if (now - lastAt < progressEveryMs || start + forMs - now < noProgressBeforeEndMs) return
    lastAt = now
    progress(progressBefore + (now - start) / 1000, text())
  }
  const heartbeat = setInterval(() => latest && report(latest), heartbeatMs).unref()
  const result = await follow({ signal, report }).finally(() => clearInterval(heartbeat))
  const waitMs = lastAt + beforeResultMs - performance.now()
  if (waitMs > 0 && !signal.aborted) await sleep(waitMs)
  return result
}
