import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../api/client.ts'
import { ApiError, type Failure } from '../api/failure.ts'
import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import type { Entry, Journal } from './journal.ts'

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
export interface Placing {
  readonly client: Client
  readonly journal: Journal
  /** Whose calls these are: a hash of the API key. */
  readonly owner: string
  /** Asked right before a call is sent, and only then; throws when it may not be. */
  readonly permit: () => Promise<Permit>
  readonly timing?: Timing | undefined
}

/** Leave to send one call. */
export interface Permit {
  /** The call was not placed after all. */
  cancel(): Promise<void>
  /** The call exists. */
  placed(callId: string): void
}

export interface Timing {
  /** How long the platform is asked what became of a call, ms. */
  readonly findOutMs: number
  /**
   * How long after it was sent a call that the platform does not show was surely never taken, ms:
   * longer than anything on the way (proxy, queue, platform) holds a request before it acts on it.
   */
  readonly settledMs: number
}

export const defaultTiming: Timing = { findOutMs: 20_000, settledMs: 120_000 }

/**
 * Places a call exactly once. It is written down before it is sent and sent once; when its outcome
 * is unknown the platform is asked by external id until it shows the call or time is up. Throws
 * ApiError when the platform refused it, OutcomeUnknown when nobody knows, ExternalIdTaken.
 */
export async function placeOnce(
  request: RouteRequest,
  placing: Placing,
  signal: AbortSignal | undefined,
): Promise<Placement> {
  const { journal } = placing
  const owner = `${placing.owner} ${request.params.account_id}`
  const { external_id, ...content } = request.body ?? {}
  const identity = {
    owner,
    content: hash(canonical(content)),
    externalId: typeof external_id === 'string' ? external_id : undefined,
  }
  const claim = journal.claim(identity, Date.now())
  if (claim.kind === 'taken') throw new ExternalIdTaken()
  const own = { ...placing, owner, request }
  if (claim.kind === 'theirs') return followUp(claim.entry, own, signal)
  if (claim.isNew && identity.externalId !== undefined) {
    // Another installation, or one whose journal is gone, may have placed it.
    const found = await findOrFree(identity.externalId, own, signal)
    if (found) return repeat(found, identity.externalId, own)
  }
  return send(claim.externalId, own, signal)
}

interface Own extends Placing {
  readonly request: RouteRequest
}

/** Looks for a call before sending; when that fails nothing was sent, and the id is free again. */
async function findOrFree(externalId: string, own: Own, signal: AbortSignal | undefined) {
  try {
    return await find(externalId, own, signal)
  } catch (error) {
    own.journal.free(own.owner, externalId)
    throw error
  }
}

/** An identical request came before: what became of it? */
async function followUp(
  entry: Entry,
  own: Own,
  signal: AbortSignal | undefined,
): Promise<Placement> {
  const { externalId } = entry
  const settledAt = entry.since + timingOf(own).settledMs
  const found =
    entry.state === 'placed' || Date.now() >= settledAt
      ? await find(externalId, own, signal)
      : await findOut(externalId, own, signal)
  if (found) return repeat(found, externalId, own)
  const isAbsent = entry.state === 'sending' && Date.now() >= settledAt
  if (isAbsent && own.journal.takeOver(own.owner, entry, Date.now())) {
    return send(externalId, own, signal)
  }
  throw new OutcomeUnknown(externalId, undefined)
}

function repeat(call: Call, externalId: string, { journal, owner }: Own): Placement {
  journal.placed(owner, externalId, call.id)
  return { call, externalId, isRepeat: true }
}

/** Sends it, once. */
async function send(
  externalId: string,
  own: Own,
  signal: AbortSignal | undefined,
): Promise<Placement> {
  const { client, journal, owner, request } = own
  const permit = await own.permit().catch((error: unknown) => {
    journal.free(owner, externalId)
    throw error
  })
  const isPlaced = (call: PlacedCall | Call): Placement => {
    journal.placed(owner, externalId, call.id)
    permit.placed(call.id)
    return { call, externalId, isRepeat: false }
  }
  try {
    const body = { ...request.body, external_id: externalId }
    return isPlaced(await client.call(routes.calls.place, { ...request, body }, signal))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (isCertainlyNotDone(error.failure)) {
      journal.free(owner, externalId)
      await permit.cancel()
      throw error
    }
    const found = signal?.aborted ? undefined : await findOut(externalId, own, signal)
    if (!found) throw new OutcomeUnknown(externalId, error.failure)
    return isPlaced(found)
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

/** Asks until the platform shows the call or time is up; a question that fails is asked again. */
async function findOut(
  externalId: string,
  own: Own,
  signal: AbortSignal | undefined,
): Promise<Call | undefined> {
  const deadline = Date.now() + timingOf(own).findOutMs
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 4000)) {
    const found = await find(externalId, own, signal).catch((error: unknown) => {
      if (error instanceof ApiError) return undefined
      throw error
    })
    const leftMs = deadline - Date.now()
    if (found || signal?.aborted || leftMs <= 0) return found
    await sleep(Math.min(waitMs, leftMs), undefined, signal && { signal }).catch(() => undefined)
  }
}

async function find(
  externalId: string,
  { client, request: { params } }: Own,
  signal: AbortSignal | undefined,
): Promise<Call | undefined> {
  const query = { external_id: externalId, limit: 10 }
  const { items } = await client.call(routes.calls.list, { params, query }, signal)
  // A platform that ignores the filter shows others, too.
  return items.find(({ external_id }) => external_id === externalId)
}

const timingOf = ({ timing }: Own) => timing ?? defaultTiming

const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/** JSON with sorted names: the same content is the same text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join()}}`
}
