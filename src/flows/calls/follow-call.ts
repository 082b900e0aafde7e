import { setTimeout as sleep } from 'node:timers/promises'
import { pause } from '../../api/time-limit.ts'
import type { CallDetail } from '../../contract/call.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { mayShowLater } from '../../session/call-owner.ts'
import { callProgressText } from './call-state-text.ts'

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

type FollowRun = Pick<Run, 'session' | 'signal' | 'shutdown' | 'progress'>

interface CallAddress {
  readonly account: string
  readonly callId: string
}

/**
 * Reads a call until it has ended, `forMs` is over, the request is cancelled or the client has gone,
 * and reports progress. Throws ApiError.
 */
export async function followCall(
  address: CallAddress,
  run: FollowRun,
  forMs: number,
): Promise<CallDetail> {
  const signals = [run.signal, run.shutdown].filter((one) => one !== undefined)
  const signal = signals.length > 0 ? AbortSignal.any(signals) : undefined
  const progress = progressReporter(run, forMs)
  const heartbeat = setInterval(progress.repeat, heartbeatMs).unref()
  const { session } = run
  const { client, callServices, owner } = session
  const follow = (restMs: number) =>
    callServices.follower.follow({ owner, ...address }, client, {
      forMs: restMs,
      signal,
      onChange: progress.report,
    })
  const call = await followUntilShown(follow, address, { session, signal, forMs }).finally(() =>
    clearInterval(heartbeat),
  )
  const waitMs = progress.lastAt() + beforeResultMs - performance.now()
  if (waitMs > 0 && !signal?.aborted) await sleep(waitMs)
  return call
}

/** Reports progress, but not too often and not right before the result. */
function progressReporter({ progress }: Pick<FollowRun, 'progress'>, forMs: number) {
  const start = performance.now()
  const end = start + forMs
  let lastAt = Number.NEGATIVE_INFINITY
  let latest: CallDetail | undefined
  const report = (call: CallDetail) => {
    latest = call
    const now = performance.now()
    if (now - lastAt < progressEveryMs || end - now < noProgressBeforeEndMs) return
    lastAt = now
    progress((now - start) / 1000, callProgressText(call))
  }
  return {
    report,
    /** Reports the latest state again. */
    repeat: () => latest && report(latest),
    lastAt: () => lastAt,
  }
}

/** How often a call that is not shown yet is looked for, ms. */
const lookEveryMs = 1000

interface FollowLimits extends Pick<Run, 'session' | 'signal'> {
  readonly forMs: number
}

/**
 * Follows a call; if the platform does not know it but may show it later (see mayShowLater), again.
 * Throws what `follow` throws.
 */
async function followUntilShown(
  follow: (forMs: number) => Promise<CallDetail>,
  address: CallAddress,
  { session, signal, forMs }: FollowLimits,
): Promise<CallDetail> {
  const end = performance.now() + forMs
  for (;;) {
    try {
      return await follow(Math.max(0, end - performance.now()))
    } catch (error) {
      const isOver = signal?.aborted || performance.now() + lookEveryMs > end
      if (isOver || !(await mayShowLater(error, address, session))) throw error
      await pause(lookEveryMs, signal)
    }
  }
}
