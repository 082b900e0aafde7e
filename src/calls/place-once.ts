import { hash } from 'node:crypto'
import type { Call, PlacedCall } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { ApiError, type Failure } from '../platform/failure.ts'
import { rejectOnAbort, requestMs, withTimeLimit } from '../platform/time-limit.ts'
import {
  type CallIdentity,
  type CallKey,
  type JournalEntry,
  JournalError,
  sameCallMs,
} from '../state/call-journal.ts'
import { isStateSlow } from '../state/state-access.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { canonicalJson } from '../text/json.ts'
import { isAnotherCall, wantedCall } from './call-matching.ts'
import {
  findPlacementOutcome,
  lookUpUnsent,
  type PlacementOutcome,
} from './find-placement-outcome.ts'
import {
  type Doubt,
  ExternalIdConflict,
  isNotPlaced,
  type LookupContext,
  OutcomeUnknown,
  type Permit,
  type Placement,
  type PlacingContext,
} from './placement.ts'

/**
 * Places a call exactly once: records it in the journal, then sends it once. If the outcome is
 * unknown, asks the platform by external id until it lists the call or time is up. Sends the call
 * again only if it certainly does not exist. Throws ApiError if the platform refuses the call,
 * OutcomeUnknown, ExternalIdConflict and JournalError.
 */
export async function placeOnce(
  placing: PlacingContext,
  signal: AbortSignal | undefined,
): Promise<Placement> {
  const identity = identityOf(placing)
  const claim = await placing.journal.claim(identity)
  const { entry } = claim
  if (claim.kind === 'conflict') throw conflictWith(entry)
  if (claim.kind === 'mine') {
    // The caller's own external id is looked up before the send: another installation may have sent
    // it, or this installation may have sent it before its journal was lost.
    const isMinted = identity.externalId === undefined
    const listed = isMinted ? undefined : await lookUpFirst(entry, placing, signal)
    return listed ?? sendCall(entry, placing, signal)
  }
  const outcome = await repeatOrAbsent(entry, placing, signal)
  if (outcome.kind === 'repeat') return outcome.placement
  // A free entry is claimed again. Any other entry is taken over, by the protocol in
  // state/call-journal.ts.
  return outcome.entry.state === 'free'
    ? placeOnce(placing, signal)
    : sendCall(outcome.entry, placing, signal)
}

/**
 * Returns the call that an identical request placed; `undefined` if there was no identical request,
 * or if it certainly placed no call. Must run as soon as account, agent and numbers of the call are
 * known, before every other step that can fail or refuse: an error of that step must not be reported
 * for a call that was already sent. Throws OutcomeUnknown, ExternalIdConflict and JournalError.
 */
export async function placedBefore(
  lookup: LookupContext,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const entry = await journalEntryOf(lookup)
  if (!entry) return undefined
  const outcome = await repeatOrAbsent(entry, lookup, signal)
  return outcome.kind === 'repeat' ? outcome.placement : undefined
}

type Asked = Pick<LookupContext, 'request' | 'callOwner' | 'sameForMs'>

/** Reads the journal entry of an identical request. Does not ask the platform. */
export const journalEntryOf = (
  lookup: Asked & Pick<LookupContext, 'journal'>,
): Promise<JournalEntry | undefined> => lookup.journal.find(identityOf(lookup))

/**
 * Looks a call up before it is sent. If the lookup fails, nothing is sent, and the entry is freed.
 */
async function lookUpFirst(
  entry: JournalEntry,
  lookup: LookupContext,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const { journal, timing, until } = lookup
  try {
    const forMs = Math.min(timing.findOutMs, until - performance.now())
    const look = await lookUpUnsent(entry.externalId, lookup, { forMs, signal })
    if (look.kind === 'absent') return undefined
    if (look.kind === 'placed') {
      const wanted = wantedCall(entry.externalId, lookup.request, { wasSent: false })
      if (isAnotherCall(look.call, wanted)) throw new ExternalIdConflict(look.call)
      return await repeatOf(look.call, entry, lookup)
    }
    const { doubt } = look
    if (doubt?.kind === 'another person') throw new ExternalIdConflict(doubt.call)
    throw new OutcomeUnknown(entry.externalId, { doubt, wasSent: false })
  } catch (error) {
    await recordIfPossible(() => journal.release(entry))
    throw error
  }
}

/** Error for a caller's external id that belongs to a request with other contents. */
const conflictWith = ({ state, externalId, callId }: JournalEntry): Error =>
  state === 'sending'
    ? new OutcomeUnknown(externalId, { doubt: { kind: 'another request' }, wasSent: false })
    : new ExternalIdConflict(callId === null ? {} : { id: callId })

type RepeatOrAbsent =
  | { readonly kind: 'repeat'; readonly placement: Placement }
  | { readonly kind: 'absent'; readonly entry: JournalEntry }

/** Outcome of an identical request that another caller is sending or has sent. */
async function repeatOrAbsent(
  entry: JournalEntry,
  lookup: LookupContext,
  signal: AbortSignal | undefined,
): Promise<RepeatOrAbsent> {
  const outcome = await findPlacementOutcome(entry, lookup, signal)
  switch (outcome.kind) {
    case 'placed':
      return { kind: 'repeat', placement: await repeatOf(outcome.call, entry, lookup) }
    case 'absent':
      return { kind: 'absent', entry: await settleAbsent(outcome.entry, lookup) }
    case 'unknown':
      throw new OutcomeUnknown(entry.externalId, outcome)
  }
}

async function repeatOf(
  call: PlacedCall | Call,
  entry: JournalEntry,
  lookup: LookupContext,
): Promise<Placement> {
  await recordIfPossible(() => lookup.journal.recordPlaced(entry, call.id))
  await settlePlaced(entry, call.id, lookup)
  const isAccepted = (await stateOf(entry, lookup)) !== 'not_taken'
  return { call, externalId: entry.externalId, isRepeat: true, isAccepted }
}

/**
 * Current state of a journal entry. If the journal fails, returns the last known state, because the
 * call exists and must not look failed.
 */
async function stateOf(
  entry: JournalEntry,
  { journal }: LookupContext,
): Promise<JournalEntry['state'] | undefined> {
  try {
    return (await journal.current(entry))?.state
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
    return entry.state
  }
}

function identityOf({ request, callOwner, sameForMs = sameCallMs }: Asked): CallIdentity {
  const { external_id, ...rest } = normalised(request.body ?? {})
  const externalId = typeof external_id === 'string' ? external_id : undefined
  const content = hash('sha256', canonicalJson(rest), 'base64url')
  return { owner: callOwner, content, externalId, sameForMs }
}

/**
 * Canonical form of a request body, equal for equal requests: UUIDs in lower case, no empty
 * objects.
 */
function normalised(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
  const given = Object.entries(body).filter(([, value]) => value !== undefined && !isEmpty(value))
  const { agent_id, ...rest } = Object.fromEntries(given)
  return { ...rest, agent_id: typeof agent_id === 'string' ? canonicalId(agent_id) : agent_id }
}

/**
 * Sends a call whose journal entry this request holds. Sends it once more if the call certainly
 * does not exist afterwards. After the send, the outcome is found and recorded even if the caller
 * gives up: only the caller's wait ends.
 */
async function sendCall(
  entry: JournalEntry,
  placing: PlacingContext,
  signal: AbortSignal | undefined,
  { isRetry = false }: { isRetry?: boolean } = {},
): Promise<Placement> {
  const sending = await beginSending(entry, placing, signal)
  const cancelled = { kind: 'cancelled', maybeSent: true } as const
  return rejectOnAbort(
    send({ ...sending, isRetry, signal }, placing),
    signal,
    () => new OutcomeUnknown(entry.externalId, { failure: cancelled }),
  )
}

/** A call that may be sent now: the journal has the send, and the policy gave the permit. */
interface ReadyCall {
  readonly entry: JournalEntry
  readonly permit: Permit
  /** Time left to send, ms, until the deadline in the journal. */
  readonly forMs: number
}

/** Minimum time for sending a call, ms. */
const minSendMs = 3000

/** Takes the permit and records the send. If this throws, nothing may be sent. */
async function beginSending(
  claimed: JournalEntry,
  placing: PlacingContext,
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
    if (!entry) throw new OutcomeUnknown(claimed.externalId)
    held = entry
    // Nothing is sent after the deadline, because another process may then take the call over.
    const leftMs = deadline - performance.now()
    if (signal?.aborted || leftMs <= 0) throw notSent(signal)
    return { entry, permit, forMs: leftMs }
  } catch (error) {
    await permit?.notPlaced()
    // The call was claimed but will not be sent.
    await recordIfPossible(async () => {
      const settled = await settleAbsent(held, placing)
      if (settled === held) await journal.release(held)
    })
    throw error
  }
}

/**
 * Time for sending, ms: the request's remaining time minus the time to find the outcome, but at
 * least half of the remaining time.
 */
function sendMs({ until, timing }: PlacingContext): number {
  const leftMs = until - performance.now()
  return Math.max(leftMs - timing.findOutMs, leftMs / 2)
}

/**
 * Error for a call that was not sent, because the caller gave up or time was up. Names the state
 * store or the platform as the cause.
 */
function notSent(signal: AbortSignal | undefined): ApiError | JournalError {
  if (!signal?.aborted && isStateSlow())
    return new JournalError('The journal of calls answers too slowly.', { isTemporary: true })
  const failure: Failure = signal?.aborted
    ? { kind: 'cancelled', maybeSent: false }
    : { kind: 'timeout', waitingFor: 'headers', afterMs: requestMs, maybeSent: false }
  return new ApiError(failure, { ...routes.calls.place, attempts: 0 })
}

interface SentCall extends ReadyCall {
  /** True if the call was sent before. */
  readonly isRetry: boolean
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined
}

async function send(sent: SentCall, placing: PlacingContext): Promise<Placement> {
  const { client, request } = placing
  const body = { ...request.body, external_id: sent.entry.externalId }
  const { beforeSending, stopped } = lastCheck(sent.permit)
  try {
    const call = await withTimeLimit(sent.forMs, stopped, (signal) =>
      client.call(routes.calls.place, { ...request, body, beforeSending }, signal),
    )
    return await recordPlacement(call, sent, placing)
  } catch (error) {
    return afterFailure(error, sent, placing).catch((failure: unknown) => {
      throw failure === error && stopped.aborted ? stopped.reason : failure
    })
  }
}

/**
 * A check of the permit right before the send. `stopped` fires if calls were stopped, or if the
 * check fails.
 */
function lastCheck(permit: Permit) {
  const cancelling = new AbortController()
  const beforeSending = () =>
    permit.refuseIfStopped().catch((refusal: unknown) => cancelling.abort(refusal))
  return { beforeSending, stopped: cancelling.signal }
}

async function recordPlacement(
  call: PlacedCall | Call,
  { entry, permit }: ReadyCall,
  placing: PlacingContext,
): Promise<Placement> {
  const isAccepted = !('success' in call) || call.success !== false
  await recordIfPossible(() =>
    isAccepted
      ? placing.journal.recordPlaced(entry, call.id)
      : placing.journal.recordNotAccepted(entry, call.id),
  )
  await permit.placed(call.id)
  // Also settles the permits that an earlier request could not settle.
  await settlePlaced(entry, call.id, placing)
  return { call, externalId: entry.externalId, isRepeat: false, isAccepted }
}

/**
 * Handles a failed request. If it certainly placed no call, throws its error; otherwise finds the
 * outcome of the call.
 */
async function afterFailure(
  error: unknown,
  sent: SentCall,
  placing: PlacingContext,
): Promise<Placement> {
  const { entry, permit, isRetry, signal } = sent
  const { journal } = placing
  if (error instanceof ApiError && isNotPlaced(error.failure)) {
    await recordIfPossible(() => journal.release(entry))
    await permit.notPlaced()
    throw error
  }
  await recordIfPossible(() => journal.endSending(entry))
  const outcome = await outcomeAfter(error, entry, placing)
  if (outcome.kind === 'placed') return recordPlacement(outcome.call, sent, placing)
  await permit.notPlaced()
  if (isRetry) throw unknownAfter(error, entry.externalId)
  return sendCall(outcome.entry, placing, signal, { isRetry: true })
}

/** Finds the outcome of a call whose reply was lost. Throws if that is not possible. */
async function outcomeAfter(
  error: unknown,
  entry: JournalEntry,
  placing: PlacingContext,
): Promise<Exclude<PlacementOutcome, { kind: 'unknown' }>> {
  if (!(error instanceof ApiError)) throw error
  const outcome = await findPlacementOutcome(entry, placing, undefined).catch(
    (failure: unknown) => {
      // The call was sent. A failure of the journal must not look as if it had not been sent.
      throw failure instanceof JournalError ? unknownAfter(error, entry.externalId) : failure
    },
  )
  if (outcome.kind === 'unknown') throw unknownAfter(error, entry.externalId, outcome.doubt)
  return outcome
}

const unknownAfter = (error: unknown, externalId: string, doubt?: Doubt) =>
  new OutcomeUnknown(externalId, {
    failure: error instanceof ApiError ? error.failure : undefined,
    doubt,
  })

/** Settles the permits of a call that exists: each counts until the call's end. */
async function settlePlaced(
  call: CallKey,
  callId: string,
  { pendingPermits }: LookupContext,
): Promise<void> {
  for (const permit of await pendingPermits(call)) await permit.placed(callId)
}

/**
 * Settles a call that certainly does not exist. If the call has permits, frees its journal entry,
 * unless the entry's stamp has changed, and gives the permits back once the entry is free. Without
 * permits, changes nothing. Reads the permits before it frees the entry. From then on their holders
 * have an outdated stamp and send nothing, and every later permit belongs to a later claim. Returns
 * the resulting entry. Throws JournalError.
 */
async function settleAbsent(
  entry: JournalEntry,
  { journal, pendingPermits }: LookupContext,
): Promise<JournalEntry> {
  const permits = await pendingPermits(entry)
  if (permits.length === 0) return entry
  await journal.release(entry)
  const current = await journal.current(entry)
  if (current?.state !== 'free') return entry
  for (const permit of permits) await permit.notPlaced()
  return current
}

/**
 * Writes a known outcome to the journal. Ignores a failure: the next identical request then asks
 * the platform.
 */
async function recordIfPossible(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
  }
}
