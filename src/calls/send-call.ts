import { ApiError, type Failure } from '../api/failure.ts'
import { rejectOnAbort, withTimeLimit } from '../api/time-limit.ts'
import type { Call, PlacedCall } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { type JournalEntry, JournalError } from '../state/journal.ts'
import { refuseOtherCall } from './call-identity.ts'
import { type CallOutcome, findOutcome } from './find-outcome.ts'
import { isNotPlaced } from './not-placed.ts'
import { giveUp, settlePlaced } from './pending-permits.ts'
import { OutcomeUnknown, type Permit, type Placement } from './placement.ts'
import {
  defaultTiming,
  type ForRequest,
  type PlacingContext,
  requestMs,
} from './placing-context.ts'
import { recordIfPossible } from './record.ts'

type Placing = PlacingContext & ForRequest

/**
 * Sends a call whose journal entry the caller holds, and once more if it certainly does not exist
 * then. What is sent is followed to its outcome and recorded, also when the caller gives up: then
 * only the waiting ends.
 */
export async function sendCall(
  entry: JournalEntry,
  placing: Placing,
  signal: AbortSignal | undefined,
  { isRetry = false }: { isRetry?: boolean } = {},
): Promise<Placement> {
  const sending = await beginSending(entry, placing, signal)
  const cancelled = { kind: 'cancelled', maybeSent: true } as const
  return rejectOnAbort(
    send({ ...sending, isRetry, signal }, placing),
    signal,
    () => new OutcomeUnknown(entry.externalId, cancelled),
  )
}

/** A call that may be sent now: it is recorded as sent, and has its permit. */
interface ReadyCall {
  readonly entry: JournalEntry
  readonly permit: Permit
  /** How long sending may take, ms: until the deadline in the journal. */
  readonly forMs: number
}

/** Less time does not suffice to send a call, ms. */
const minSendMs = 3000

/** Gets the permit and records that the call is sent now. If this throws, nothing is sent. */
async function beginSending(
  claimed: JournalEntry,
  placing: Placing,
  signal: AbortSignal | undefined,
): Promise<ReadyCall> {
  const { journal } = placing
  let held = claimed
  let permit: Permit | undefined
  try {
    permit = await placing.permit(claimed)
    const forMs = sendMs(placing)
    if (signal?.aborted || forMs < minSendMs) throw notSent(signal)
    const deadline = performance.now() + forMs
    const entry = await journal.beginSending(claimed, forMs)
    if (!entry) throw new OutcomeUnknown(claimed.externalId, undefined)
    held = entry
    // Other processes may take the call over some time after the deadline, so nothing is sent past it.
    const leftMs = deadline - performance.now()
    if (signal?.aborted || leftMs <= 0) throw notSent(signal)
    return { entry, permit, forMs: leftMs }
  } catch (error) {
    await permit?.cancel()
    await giveUp(held, placing)
    throw error
  }
}

/** What is left of the request's time, except the time to find the outcome; at least half of it. */
function sendMs({ until, timing = defaultTiming }: Placing): number {
  const leftMs = until - performance.now()
  return Math.max(leftMs - timing.findOutMs, leftMs / 2)
}

/** The caller has given up, or the time was used up before. */
function notSent(signal: AbortSignal | undefined): ApiError {
  const failure: Failure = signal?.aborted
    ? { kind: 'cancelled', maybeSent: false }
    : { kind: 'timeout', waitingFor: 'headers', afterMs: requestMs, maybeSent: false }
  return new ApiError(failure, { ...routes.calls.place, attempts: 0 })
}

interface SentCall extends ReadyCall {
  /** It was sent before. */
  readonly isRetry: boolean
  /** The caller's. */
  readonly signal: AbortSignal | undefined
}

async function send(sent: SentCall, placing: Placing): Promise<Placement> {
  const { client, request } = placing
  const body = { ...request.body, external_id: sent.entry.externalId }
  try {
    const call = await withTimeLimit(sent.forMs, undefined, (signal) =>
      client.call(routes.calls.place, { ...request, body }, signal),
    )
    return await recordPlacement(call, sent, placing)
  } catch (error) {
    return afterFailure(error, sent, placing)
  }
}

async function recordPlacement(
  call: PlacedCall | Call,
  { entry, permit }: ReadyCall,
  { journal, pendingPermits }: Placing,
): Promise<Placement> {
  const isAccepted = !('success' in call) || call.success !== false
  await recordIfPossible(() =>
    isAccepted ? journal.recordPlaced(entry, call.id) : journal.recordNotAccepted(entry, call.id),
  )
  await permit.placed(call.id)
  // One that an earlier request could not give back.
  await settlePlaced(entry, call.id, { pendingPermits })
  return { call, externalId: entry.externalId, isRepeat: false, isAccepted }
}

/** The request failed: there is certainly no call, or its outcome has to be found. */
async function afterFailure(error: unknown, sent: SentCall, placing: Placing): Promise<Placement> {
  const { entry, permit, isRetry, signal } = sent
  const { journal } = placing
  if (error instanceof ApiError && isNotPlaced(error.failure)) {
    await recordIfPossible(() => journal.release(entry))
    await permit.cancel()
    throw error
  }
  await recordIfPossible(() => journal.endSending(entry))
  const outcome = await outcomeAfter(error, entry, placing)
  if (outcome.kind === 'placed') return recordPlacement(outcome.call, sent, placing)
  await permit.cancel()
  if (isRetry) throw unknownAfter(error, entry.externalId)
  return sendCall(outcome.entry, placing, signal, { isRetry: true })
}

/** The outcome of a call whose answer was lost; throws where it cannot be found. */
async function outcomeAfter(
  error: unknown,
  entry: JournalEntry,
  placing: Placing,
): Promise<Exclude<CallOutcome, { kind: 'unknown' }>> {
  if (!(error instanceof ApiError)) throw error
  const outcome = await findOutcome(entry, placing, undefined).catch((failure: unknown) => {
    // The call was sent: a journal that fails now must not look as if it was not.
    throw failure instanceof JournalError ? unknownAfter(error, entry.externalId) : failure
  })
  if (outcome.kind === 'unknown') throw unknownAfter(error, entry.externalId)
  if (outcome.kind === 'placed') refuseOtherCall(outcome.call, placing.request)
  return outcome
}

const unknownAfter = (error: unknown, externalId: string) =>
  new OutcomeUnknown(externalId, error instanceof ApiError ? error.failure : undefined)
