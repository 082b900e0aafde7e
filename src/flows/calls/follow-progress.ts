import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../../mcp/call/tool.ts'

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
  readonly signal: AbortSignal | undefined
  /** There is something new, which this text tells whenever it is asked. */
  readonly report: (text: () => string) => void
}

/** Follows calls for so long, and reports progress: not too often, and not right before the result. */
export async function withFollowProgress<T>(
  { signal: cancelled, shutdown, progress }: FollowRun,
  following: Following,
  follow: (reporting: Reporting) => Promise<T>,
): Promise<T> {
  const signals = [cancelled, shutdown].filter((one) => one !== undefined)
  const signal = signals.length > 0 ? AbortSignal.any(signals) : undefined
  const reporter = progressReporter(progress, following)
  const heartbeat = setInterval(reporter.repeat, heartbeatMs).unref()
  const result = await follow({ signal, report: reporter.report }).finally(() =>
    clearInterval(heartbeat),
  )
  const waitMs = reporter.lastAt() + beforeResultMs - performance.now()
  if (waitMs > 0 && !signal?.aborted) await sleep(waitMs)
  return result
}

function progressReporter(
  progress: FollowRun['progress'],
  { forMs, progressBefore = 0 }: Following,
) {
  const start = performance.now()
  const end = start + forMs
  let lastAt = Number.NEGATIVE_INFINITY
  let latest: (() => string) | undefined
  const report = (text: () => string) => {
    latest = text
    const now = performance.now()
    if (now - lastAt < progressEveryMs || end - now < noProgressBeforeEndMs) return
    lastAt = now
    progress(progressBefore + (now - start) / 1000, text())
  }
  return {
    report,
    /** Reports the latest state again. */
    repeat: () => latest && report(latest),
    lastAt: () => lastAt,
  }
}
