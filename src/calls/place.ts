import { ApiError, type Failure } from '../api/failure.ts'
import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { type Asking, find, findOut, type Search, sought } from './find-out.ts'
import { type Entry, JournalError } from './journal.ts'

/** A call that exists. */
export interface Placement {
  readonly call: PlacedCall | Call
  readonly externalId: string
  /** The call was there already: an identical request had placed it. */
  readonly isRepeat: boolean
}

/** Nobody knows whether the call was placed. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
  readonly externalId: string
  readonly failure: Failure | undefined

  constructor(externalId: string, failure: Failure | undefined) {
    super(`It is not known whether the call ${externalId} was placed`)
    this.externalId = externalId
    this.failure = failure
  }
}

/** The external id stands for another call. */
export class ExternalIdTaken extends Error {
  override readonly name = 'ExternalIdTaken'
}

/** What placing works with. */
export interface Placing extends Asking {
  /** Asked right before a call is sent, and only then; throws when it may not be. */
  readonly permit: () => Promise<Permit>
}

/** Leave to send one call. */
export interface Permit {
  /** The call was not placed after all. */
  cancel(): Promise<void>
  /** The call exists. */
  placed(callId: string): void
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
  const { journal, owner, identity } = own
  const claim = journal.claim(identity, Date.now())
  if (claim.kind === 'taken') throw new ExternalIdTaken()
  const { entry } = claim
  if (claim.kind === 'mine') {
    // Another installation, or one whose journal is gone, may have placed what the caller names.
    const found =
      identity.externalId === undefined ? undefined : await findFirst(entry, own, signal)
    return found ?? send(entry, own, signal)
  }
  const found = await cameOf(entry, own, signal)
  if (found) return found
  // Whoever had it was refused, so it is anybody's again; or of whoever sent it there is no trace.
  const isFree = journal.entry(owner, entry.externalId)?.state === 'free'
  return isFree ? placeOnce(request, placing, signal) : send(entry, own, signal)
}

/**
 * The call that an identical request has placed; `undefined` when there was no such request or
 * surely nothing came of it. To be asked before anything that may fail or refuse: what was sent is
 * not to be told as refused. Throws OutcomeUnknown.
 */
export async function placedBefore(
  request: RouteRequest,
  asking: Asking,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const search = { ...asking, ...sought(request, asking) }
  const entry = search.journal.look(search.identity, Date.now())
  return entry && cameOf(entry, search, signal)
}

/** The same as far as it is written down here; costs nothing. Throws JournalError. */
export const notedBefore = (request: RouteRequest, asking: Asking): Entry | undefined =>
  asking.journal.look(sought(request, asking).identity, Date.now())

interface Own extends Search, Placing {}

/** Looks for a call before sending; when that fails nothing was sent, and the id is free again. */
async function findFirst(
  entry: Entry,
  own: Own,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  try {
    const { call } = await find(entry.externalId, own, signal)
    if (!call) return undefined
    const [asked, rung] = [own.request.body?.to_number, call.to_number]
    if (asked && rung && asked !== rung) throw new ExternalIdTaken()
    return repeat(call, entry.externalId, own)
  } catch (error) {
    note(() => own.journal.free(own.owner, entry))
    throw error
  }
}

/** What came of a request that is, or was, under way; `undefined`: surely nothing. */
async function cameOf(
  entry: Entry,
  search: Search,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const { externalId } = entry
  const { call, isAbsent, failure } = await findOut(entry, search, signal)
  if (call) return repeat(call, externalId, search)
  if (isAbsent) return undefined
  throw new OutcomeUnknown(externalId, failure)
}

function repeat(
  call: PlacedCall | Call,
  externalId: string,
  { journal, owner }: Search,
): Placement {
  note(() => journal.placed(owner, externalId, call.id, Date.now()))
  return { call, externalId, isRepeat: true }
}

/** Sends it, once; and if there surely is no call then, once more. */
async function send(
  claimed: Entry,
  own: Own,
  signal: AbortSignal | undefined,
  { isLast = false }: { isLast?: boolean } = {},
): Promise<Placement> {
  const { client, journal, owner, request } = own
  const { externalId } = claimed
  const permit = await own.permit().catch((error: unknown) => {
    note(() => journal.free(owner, claimed))
    throw error
  })
  const entry = journal.sending(owner, claimed, Date.now())
  if (!entry) {
    await permit.cancel()
    throw new OutcomeUnknown(externalId, undefined)
  }
  const isPlaced = (call: PlacedCall | Call): Placement => {
    note(() => journal.placed(owner, externalId, call.id, Date.now()))
    permit.placed(call.id)
    return { call, externalId, isRepeat: false }
  }
  try {
    const body = { ...request.body, external_id: externalId }
    return isPlaced(await client.call(routes.calls.place, { ...request, body }, signal))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (isCertainlyNotDone(error.failure)) {
      note(() => journal.free(owner, entry))
      await permit.cancel()
      throw error
    }
    const { call, isAbsent } = await findOut(entry, own, signal)
    if (call) return isPlaced(call)
    if (!isAbsent || isLast) throw new OutcomeUnknown(externalId, error.failure)
    await permit.cancel()
    return send(entry, own, signal, { isLast: true })
  }
}

/**
 * Writes down what is known by now. What has happened has happened, whether or not that works; if
 * not, the next identical request asks the platform.
 */
function note(write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
  }
}

/** The request did not leave, or the platform understood it and said no. */
function isCertainlyNotDone(failure: Failure): boolean {
  if ('maybeSent' in failure) return !failure.maybeSent
  if (failure.kind === 'bad_parameter') return true
  const isRefusal = 'status' in failure && failure.status >= 400 && failure.status < 500
  // 408 is what a proxy says that waited in vain, not a platform that refused.
  return isRefusal && failure.status !== 408
}
