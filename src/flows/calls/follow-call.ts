import { pause } from '../../api/time-limit.ts'
import type { FollowOptions } from '../../calls/call-poll.ts'
import type { CallDetail } from '../../contract/call.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { mayShowLater } from '../../session/call-owner.ts'
import { callProgressText } from './call-state-text.ts'
import { type FollowRun, withFollowProgress } from './follow-progress.ts'

export interface CallAddress {
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
export async function readUntilEnd(
  address: CallAddress,
  { session }: Pick<Run, 'session'>,
  { forMs, signal, onChange }: FollowOptions,
): Promise<CallDetail> {
  const { client, callServices, owner } = session
  const end = performance.now() + forMs
  for (;;) {
    const restMs = Math.max(0, end - performance.now())
    try {
      const options = { forMs: restMs, signal, ...(onChange && { onChange }) }
      return await callServices.follower.follow({ owner, ...address }, client, options)
    } catch (error) {
      const isOver = signal?.aborted || performance.now() + lookEveryMs > end
      if (isOver || !(await mayShowLater(error, address, session))) throw error
      await pause(lookEveryMs, signal)
    }
  }
}
