import { setTimeout as sleep } from 'node:timers/promises'
import type { FollowOptions } from '../../src/calls/call-follower.ts'
import type { CallDetail } from '../../src/contract/call.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { mayShowLater } from '../../src/platform/sessions/account.ts'
import { pause } from '../../src/platform/time-limit.ts'
import type { Run } from '../../src/tool/tool.ts'
import { callProgressText, callStateOf, callStateWords, isGoingOn } from './call-state.ts'

/** How long calls are followed unless the caller says otherwise, ms. */
export const followMs = 45_000

interface CallAddress {
  readonly account: string
  readonly callId: string
}

/**
 * Reads a call until it has ended, `forMs` is over, the request is cancelled or the client has gone,
 * and reports progress. Throws ApiError.
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

/** How often a call that is not shown yet is looked for, ms. */
const lookEveryMs = 1000

/**
 * Reads a call until it has ended; if the platform does not know it but may show it later (see
 * mayShowLater), it is looked for again. Throws ApiError.
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

/** What the last poll of a call returned. */
export type LastPoll = { readonly call: CallDetail } | { readonly error: ApiError }
/** By the ids of the calls. */
export type LastPolls = ReadonlyMap<string, LastPoll>

interface CallsToFollow extends Following {
  readonly account: string
  /** Each once. */
  readonly callIds: readonly string[]
}

/** Time between the first readings of two calls, ms: a hundred at once would be a burst. */
const betweenFirstMs = 25

/**
 * Reads calls until all have ended, `forMs` is over, the request is cancelled or the client has gone,
 * and reports progress. A call that cannot be read is reported as such.
 */
export function followCalls(calls: CallsToFollow, run: FollowRun): Promise<LastPolls> {
  const { account, callIds, forMs } = calls
  const end = performance.now() + forMs
  // However little time there is, each call is read once.
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

/** Such as `2 of 3 have ended; ringing: 1`. Contains nothing from the conversations. */
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

/** Least time between two progress messages, ms. */
const progressEveryMs = 2000
/**
 * No progress message in this time before the end, and none closer to the result than that, ms: some
 * clients take a message that arrives after the result for one of another call.
 */
const noProgressBeforeEndMs = 1500
const beforeResultMs = 250
/** After this time without a change a progress message says that the call goes on, ms. */
const heartbeatMs = 10_000

export type FollowRun = Pick<Run, 'session' | 'signal' | 'shutdown' | 'progress'>

interface Following {
  readonly forMs: number
  /** Progress that the request has reported before. */
  readonly progressBefore?: number
}

interface Reporting {
  /** Fires when the request is cancelled or the client has gone. */
  readonly signal: AbortSignal
  /** Reports progress: `text` is called when a client is notified. */
  readonly report: (text: () => string) => void
}

/** Follows calls for so long, and reports progress: not too often, and not right before the result. */
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
