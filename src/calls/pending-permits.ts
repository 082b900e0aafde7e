import type { CallKey, Journal, JournalEntry } from '../state/journal.ts'
import type { Permit } from './placement.ts'
import { recordIfPossible } from './record.ts'

/**
 * Permits of calls whose outcome was not recorded, on whichever server they were given: its answer was
 * lost, or the server was killed. Who finds out what became of such a call settles its permits.
 */
export interface PendingPermits {
  /** The permits for a call. Never throws. */
  of(call: CallKey): Promise<readonly Permit[]>
}

/** There is a call: each of its permits counts until it has ended. */
export async function settlePlaced(
  call: CallKey,
  callId: string,
  { pendingPermits }: { readonly pendingPermits: PendingPermits },
): Promise<void> {
  for (const permit of await pendingPermits.of(call)) await permit.placed(callId)
}

interface SettleContext {
  readonly journal: Journal
  readonly pendingPermits: PendingPermits
}

/**
 * There is no call as long as its entry has this stamp: the entry becomes free, and its permits are
 * void. They are read before that: who holds one of them holds the entry with a stamp that is over,
 * so that nothing is sent with it any more. A permit that is given later belongs to a later claim. An
 * entry without permits stays as it is. Returns the entry as it is then. Throws JournalError.
 */
export async function settleAbsent<E extends JournalEntry>(
  entry: E,
  { journal, pendingPermits }: SettleContext,
): Promise<E | JournalEntry> {
  const permits = await pendingPermits.of(entry)
  if (permits.length === 0) return entry
  await journal.release(entry)
  const current = await journal.current(entry)
  if (current?.state !== 'free') return entry
  for (const permit of permits) await permit.cancel()
  return current
}

/** The same where a request gives a call up that it has claimed and not sent; see `recordIfPossible`. */
export const giveUp = (entry: JournalEntry, context: SettleContext): Promise<void> =>
  recordIfPossible(async () => {
    const settled = await settleAbsent(entry, context)
    if (settled === entry) await context.journal.release(entry)
  })
