import { ApiError, type Failure } from '../api/failure.ts'
import { pause } from '../api/time-limit.ts'
import type { Call, PlacedCall } from '../contract/call.ts'
import type { CurrentEntry, JournalEntry } from '../state/journal.ts'
import { lookUpCall } from './look-up-call.ts'
import { defaultTiming, type ForRequest, type LookupContext } from './placing-context.ts'
import type { ListedCallResult } from './search-call-list.ts'

/** The lookup of one call. */
export type CallLookup = LookupContext & ForRequest

/** What became of a call that was sent. */
export type CallOutcome =
  | { readonly kind: 'placed'; readonly call: PlacedCall | Call }
  /** There is no call, and there will be none as long as the entry has this stamp. */
  | { readonly kind: 'absent'; readonly entry: JournalEntry }
  /** `failure`: why the platform did not tell, where it failed. */
  | { readonly kind: 'unknown'; readonly failure: Failure | undefined }

/**
 * Asks until the platform lists the call, or the call certainly does not exist, or time is up. A
 * question that fails is asked again. Reads the journal each time: another request that sends the
 * call records its outcome there.
 */
export async function findOutcome(
  entry: JournalEntry,
  lookup: CallLookup,
  signal: AbortSignal | undefined,
): Promise<CallOutcome> {
  const { findOutMs } = lookup.timing ?? defaultTiming
  const deadline = Math.min(performance.now() + findOutMs, lookup.until)
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 4000)) {
    const current = await lookup.journal.current(entry)
    // The journal keeps entries for longer than a request can be on its way.
    if (!current) return { kind: 'absent', entry }
    const forMs = deadline - performance.now()
    const outcome = await outcomeNow(current, lookup, { forMs, signal })
    const leftMs = deadline - performance.now()
    if (outcome.kind !== 'unknown' || signal?.aborted || leftMs <= 0) return outcome
    await pause(Math.min(waitMs, leftMs), signal)
  }
}

async function outcomeNow(
  entry: CurrentEntry,
  lookup: CallLookup,
  { forMs, signal }: { forMs: number; signal: AbortSignal | undefined },
): Promise<CallOutcome> {
  if (entry.state === 'free') return { kind: 'absent', entry }
  const { settledMs } = lookup.timing ?? defaultTiming
  // Decided before the list is read: only a list that is read after that time shows an absence.
  const isSettled = entry.sinceDeadlineMs >= settledMs
  const options = { forMs, signal, sentAt: entry.stamp, isLastLook: isSettled }
  const result: LookUpResult = await lookUpCall(entry.externalId, lookup, options).catch(uncertain)
  if (result.call) return { kind: 'placed', call: result.call }
  if (entry.callId !== null) return { kind: 'placed', call: { id: entry.callId } }
  if (isSettled && result.isCertain) return { kind: 'absent', entry }
  return { kind: 'unknown', failure: result.failure }
}

interface LookUpResult extends ListedCallResult {
  readonly failure?: Failure
}

function uncertain(error: unknown): LookUpResult {
  if (!(error instanceof ApiError)) throw error
  return { call: undefined, isCertain: false, failure: error.failure }
}
