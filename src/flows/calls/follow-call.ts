import { pause } from '../../api/time-limit.ts'
import type { CallDetail } from '../../contract/call.ts'
import { mayShowLater } from '../../session/call-owner.ts'
import type { Session } from '../../session/session.ts'

/** How often a call that is not shown yet is looked for, ms. */
const lookEveryMs = 1000

interface Waiting {
  readonly session: Session
  readonly signal: AbortSignal | undefined
  readonly forMs: number
}

/**
 * Follows a call, and again while the platform may show it later (see mayShowLater). Throws what
 * `follow` throws.
 */
export async function untilShown(
  follow: (forMs: number) => Promise<CallDetail>,
  call: { readonly account: string; readonly callId: string },
  { session, signal, forMs }: Waiting,
): Promise<CallDetail> {
  const end = performance.now() + forMs
  for (;;) {
    try {
      return await follow(Math.max(0, end - performance.now()))
    } catch (error) {
      const isOver = signal?.aborted || performance.now() + lookEveryMs > end
      if (isOver || !(await mayShowLater(error, call, session))) throw error
      await pause(lookEveryMs, signal)
    }
  }
}
