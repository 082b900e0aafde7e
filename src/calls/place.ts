import { ApiError, type Failure } from '../api/failure.ts'
import { rejectOnAbort, withTimeLimit } from '../api/time-limit.ts'
import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { type JournalEntry, JournalError } from '../state/journal.ts'
import { canonicalId } from '../text/canonical-id.ts'
import {
  type Asking,
  defaultTiming,
  find,
  findOut,
  requestMs,
  type Search,
  sought,
} from './find-out.ts'
import { isCertainlyNotDone } from './not-placed.ts'
import { ExternalIdTaken, OutcomeUnknown, type Permit, type Placement } from './placement.ts'
import type { Unsettled } from './unsettled.ts'

/** What recognising a call works with. */
export interface Recognising extends Asking {
  readonly unsettled: Unsettled
}

/** What placing works with. */
export interface Placing extends Recognising {
  /** Asked right before a call is sent, and only then; throws when it may not be. */
  readonly permit: () => Promise<Permit>
}

/**
 * Places a call exactly once. It is written down before it is sent and sent once; when its outcome
 * is unknown the platform is asked by external id until it shows the call or time is up, and only
 * if there surely is none it is sent once more. Throws ApiError when the platform refused it,
 * OutcomeUnknown when nobody knows, ExternalIdTaken.
 */
export async function placeOnce(
  request: RouteRequest,
  placing: Placing,
  signal: AbortSignal | undefined,
): Promise<Placement> {
  const own = { ...placing, ...sought(request, placing) }
  const { journal, identity } = own
  const claim = await journal.claim(identity)
  if (claim.kind === 'conflict') throw new ExternalIdTaken()
  const { entry } = claim
  if (claim.kind === 'mine') {
    // Another installation, or one whose journal is gone, may have placed what the caller names.
    const found =
      identity.externalId === undefined ? undefined : await findFirst(entry, own, signal)
    return found ?? send(entry, own, signal)
  }
  const found = await cameOf(entry, own, signal)
  if ('call' in found) return found
  // Whoever had it was refused, so it is anybody's again; or of whoever sent it there is no trace.
  const isFree = (await journal.current(entry))?.state === 'free'
  return isFree ? placeOnce(request, placing, signal) : send(found.absent, own, signal)
}

/**
 * The call that an identical request has placed; `undefined` when there was no such request or
 * surely nothing came of it. To be asked before anything that may fail or refuse: what was sent is
 * not to be told as refused. Throws OutcomeUnknown.
 */
export async function placedBefore(
  request: RouteRequest,
  recognising: Recognising,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const search = { ...recognising, ...sought(request, recognising) }
  const entry = await search.journal.find(search.identity)
  if (!entry) return undefined
  const found = await cameOf(entry, search, signal)
  return 'call' in found ? found : undefined
}

/** The same as far as it is written down here; costs nothing. Throws JournalError. */
export const notedBefore = (
  request: RouteRequest,
  asking: Pick<Asking, 'journal' | 'caller' | 'sameForMs'>,
): Promise<JournalEntry | undefined> => asking.journal.find(sought(request, asking).identity)

interface Own extends Search, Placing {}
interface Recognised extends Search, Recognising {}

/** What the identity of a call consists of, as lists show it: other than this is another call. */
function refuseOther(call: PlacedCall | Call, { request: { body = {} } }: Search): void {
  const spelled = (value: unknown) => (typeof value === 'string' ? canonicalId(value) : undefined)
  const isOther = (['type', 'agent_id', 'from_number', 'to_number'] as const).some((name) => {
    const [asked, shown] = [spelled(body?.[name]), spelled(call[name])]
    return asked !== undefined && shown !== undefined && asked !== shown
  })
  if (isOther) throw new ExternalIdTaken()
}

/** Looks for a call before sending; when that fails nothing was sent, and the id is free again. */
async function findFirst(
  entry: JournalEntry,
  own: Own,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  try {
    const { findOutMs } = own.timing ?? defaultTiming
    const forMs = Math.min(findOutMs, own.until - performance.now())
    const { call } = await find(entry.externalId, own, { forMs, signal })
    if (!call) return undefined
    refuseOther(call, own)
    return await repeat(call, entry, own)
  } catch (error) {
    await note(() => own.journal.release(entry))
    throw error
  }
}

/** What came of a request that is, or was, under way; or the entry of which surely nothing came. */
async function cameOf(
  entry: JournalEntry,
  search: Recognised,
  signal: AbortSignal | undefined,
): Promise<Placement | { readonly absent: JournalEntry }> {
  const { call, absent, failure } = await findOut(entry, search, signal)
  if (call) {
    refuseOther(call, search)
    return repeat(call, entry, search)
  }
  if (absent) {
    await search.unsettled.take(absent)?.cancel()
    return { absent }
  }
  throw new OutcomeUnknown(entry.externalId, failure)
}

async function repeat(
  call: PlacedCall | Call,
  entry: JournalEntry,
  { journal, unsettled }: Recognised,
): Promise<Placement> {
  await note(() => journal.recordPlaced(entry, call.id))
  await unsettled.take(entry)?.placed(call.id)
  const isTaken = (await journal.current(entry))?.state !== 'not_taken'
  return { call, externalId: entry.externalId, isRepeat: true, isTaken }
}

/** Less than this is no time in which a call is sent, ms. */
const leastSendMs = 3000

/**
 * Sends it, once; and if there surely is no call then, once more. What is sent is seen to its end
 * and written down, also for a caller who gives up: only the waiting stops then.
 */
async function send(
  claimed: JournalEntry,
  own: Own,
  signal: AbortSignal | undefined,
  { isLast = false }: { isLast?: boolean } = {},
): Promise<Placement> {
  const ready = await readyToSend(claimed, own, signal)
  const cancelled = { kind: 'cancelled', maybeSent: true } as const
  return rejectOnAbort(
    transmit({ ...ready, isLast, signal }, own),
    signal,
    () => new OutcomeUnknown(claimed.externalId, cancelled),
  )
}

/** What a call is sent with: it is written down as sent, and has its permit and its time. */
interface Ready {
  readonly entry: JournalEntry
  readonly permit: Permit
  /** How long it may take, ms. */
  readonly forMs: number
}

/**
 * Everything between the claim and the sending. Whatever fails here, nothing was sent: the entry is
 * free again, and so is the permit.
 */
async function readyToSend(
  claimed: JournalEntry,
  own: Own,
  signal: AbortSignal | undefined,
): Promise<Ready> {
  const { journal, until, timing = defaultTiming } = own
  let permit: Permit | undefined
  try {
    permit = await own.permit()
    const leftMs = until - performance.now()
    // Time is left to find out what became of it.
    const forMs = Math.max(leftMs - timing.findOutMs, leftMs / 2)
    if (signal?.aborted || forMs < leastSendMs) throw notSent(signal)
    const giveUpAt = performance.now() + forMs
    const entry = await journal.beginSending(claimed, forMs)
    if (!entry) throw new OutcomeUnknown(claimed.externalId, undefined)
    // Writing it down may have taken a while; what is written is when the sender gives up.
    return { entry, permit, forMs: giveUpAt - performance.now() }
  } catch (error) {
    await note(() => journal.release(claimed))
    await permit?.cancel()
    throw error
  }
}

/** What went before took all the time there was, or the caller has given up. */
function notSent(signal: AbortSignal | undefined): ApiError {
  const failure: Failure = signal?.aborted
    ? { kind: 'cancelled', maybeSent: false }
    : { kind: 'timeout', waitingFor: 'headers', afterMs: requestMs, maybeSent: false }
  return new ApiError(failure, { ...routes.calls.place, attempts: 0 })
}

interface Sending extends Ready {
  readonly isLast: boolean
  readonly signal: AbortSignal | undefined
}

/** Sends what was written down, and finds out what came of it. */
async function transmit(
  { entry, permit, forMs, isLast, signal: caller }: Sending,
  own: Own,
): Promise<Placement> {
  const { client, journal, request, unsettled } = own
  const { externalId } = entry
  const isPlaced = async (call: PlacedCall | Call): Promise<Placement> => {
    const isTaken = !('success' in call) || call.success !== false
    const settle = isTaken ? journal.recordPlaced : journal.recordNotTaken
    await note(() => settle(entry, call.id))
    await permit.placed(call.id)
    return { call, externalId, isRepeat: false, isTaken }
  }
  const body = { ...request.body, external_id: externalId }
  const post = (signal: AbortSignal) =>
    client.call(routes.calls.place, { ...request, body }, signal)
  try {
    return await isPlaced(await withTimeLimit(forMs, undefined, post))
  } catch (error) {
    if (error instanceof ApiError && isCertainlyNotDone(error.failure)) {
      await note(() => journal.release(entry))
      await permit.cancel()
      throw error
    }
    await note(() => journal.endSending(entry))
    const found = await foundAfter(error, entry, own).catch((unknown: unknown) => {
      unsettled.add(entry, permit)
      throw unknown
    })
    if ('call' in found) return isPlaced(found.call)
    await permit.cancel()
    if (isLast) throw unknownAfter(error, externalId)
    return send(found.absent, own, caller, { isLast: true })
  }
}

/** What came of a call whose answer was lost. Throws when that cannot be found out. */
async function foundAfter(
  error: unknown,
  entry: JournalEntry,
  own: Own,
): Promise<{ readonly call: PlacedCall | Call } | { readonly absent: JournalEntry }> {
  if (!(error instanceof ApiError)) throw error
  const { call, absent } = await findOut(entry, own, undefined).catch((why: unknown) => {
    // It was sent: that the journal fails now must not read as if nothing had been.
    throw why instanceof JournalError ? unknownAfter(error, entry.externalId) : why
  })
  if (call) refuseOther(call, own)
  if (call) return { call }
  if (absent) return { absent }
  throw unknownAfter(error, entry.externalId)
}

const unknownAfter = (error: unknown, externalId: string) =>
  new OutcomeUnknown(externalId, error instanceof ApiError ? error.failure : undefined)

/**
 * Writes down what is known by now. What has happened has happened, whether or not that works; if
 * not, the next identical request asks the platform.
 */
async function note(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
  }
}
