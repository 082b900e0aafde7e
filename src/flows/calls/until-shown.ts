import { pause } from '../../api/time-limit.ts'
import { isMissing, shownAfterMs } from '../../calls/follow.ts'
import type { CallDetail } from '../../contract/call.ts'
import type { Session } from '../../session/session.ts'
import { JournalError } from '../../state/journal.ts'
import { callerOn } from './caller.ts'

/** How often a call that is not shown yet is looked for, ms. */
const lookEveryMs = 1000

interface Waiting {
  readonly session: Session
  readonly signal: AbortSignal | undefined
  readonly forMs: number
}

/**
 * Follows a call. That a platform does not know one which was placed here less than half a minute ago
 * is not believed: some show a call only after a while. Throws what `follow` throws.
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
      if (isOver || !isMissing(error) || !(await isFresh(call, session))) throw error
      await pause(lookEveryMs, signal)
    }
  }
}

/** Whether the journal says that it was placed just now; without a journal nobody does. */
async function isFresh(
  { account, callId }: { readonly account: string; readonly callId: string },
  session: Session,
): Promise<boolean> {
  try {
    const journal = await session.dialling.journal()
    const agoMs = await journal.placedAgoMs(await callerOn(account, session), callId)
    return agoMs !== undefined && agoMs < shownAfterMs
  } catch (error) {
    if (error instanceof JournalError) return false
    throw error
  }
}
