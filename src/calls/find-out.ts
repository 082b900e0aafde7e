import { createHash } from 'node:crypto'
import type { Client } from '../api/client.ts'
import { ApiError, type Failure } from '../api/failure.ts'
import { pause, withTimeLimit } from '../api/time-limit.ts'
import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { CallIdentity, CallOwner, Journal, JournalEntry } from '../state/journal.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { findInPages, findRespelled, type Listed } from './listed-call.ts'

/** Whose calls: the same on the same platform and account, whatever key is used. */
export type Caller = CallOwner

/** What finding out about calls works with. */
export interface Asking {
  readonly client: Client
  readonly journal: Journal
  /** Whose calls these are. */
  readonly caller: Caller
  /** How long an identical request means the same call, where that is not the usual time, ms. */
  readonly sameForMs?: number | undefined
  readonly timing?: Timing | undefined
  /** When the request has to be answered, by the clock of `performance.now`, ms: nobody sets that. */
  readonly until: number
}

/** How long one request takes at most, ms: clients commonly give up after 60 s. */
export const requestMs = 54_000

export interface Timing {
  /** How long the platform is asked what became of a call, ms. */
  readonly findOutMs: number
  /**
   * How long after its sender gave up a call that the platform does not show was surely never taken, ms:
   * longer than anything on the way (proxy, queue, platform) holds a request before it acts on it.
   */
  readonly settledMs: number
}

export const defaultTiming: Timing = { findOutMs: 20_000, settledMs: 120_000 }

/** One call that is to be found: who asks, and by what it is known. */
export interface Search extends Asking {
  readonly request: RouteRequest
  readonly identity: CallIdentity
}

type Sought = Pick<Search, 'request' | 'identity'>

/** By what a request's call is known, whoever asks for it. */
export function sought(
  request: RouteRequest,
  { caller, sameForMs }: Pick<Asking, 'caller' | 'sameForMs'>,
): Sought {
  const { external_id, ...content } = spelledOneWay(request.body ?? {})
  const externalId = typeof external_id === 'string' ? external_id : undefined
  const { owner, formerOwners } = caller
  const identity = {
    owner,
    formerOwners,
    content: hash(canonicalJson(content)),
    externalId,
    sameForMs,
  }
  return { request, identity }
}

/** One call has one identity, however it is spelled: ids in capitals, an empty object for none. */
function spelledOneWay(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
  const said = Object.entries(body).filter(([, value]) => value !== undefined && !isEmpty(value))
  const { agent_id, ...rest } = Object.fromEntries(said)
  return { ...rest, agent_id: typeof agent_id === 'string' ? canonicalId(agent_id) : agent_id }
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/** What became of a call, as far as anybody says. */
interface Found {
  readonly call?: PlacedCall | Call
  /** There is none, and there will be none, as long as the journal still has this entry. */
  readonly absent?: JournalEntry
  /** Why the platform does not say, as far as it has said anything. */
  readonly failure?: Failure | undefined
}

/**
 * Asks until the platform shows the call, or surely has none, or time is up; a question that fails
 * is asked again. Whoever sends it meanwhile writes down what came of it.
 */
export async function findOut(
  first: JournalEntry,
  search: Search,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const { journal } = search
  const { externalId } = first
  const { findOutMs, settledMs } = search.timing ?? defaultTiming
  const deadline = Math.min(performance.now() + findOutMs, search.until)
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 4000)) {
    const entry = await journal.current(first)
    // Forgotten by everybody: nothing can be on its way any more.
    if (!entry) return { absent: first }
    const { state, sinceDeadlineMs, stamp, callId } = entry
    if (state === 'free') return { absent: entry }
    // Only a reading that begins after the last moment at which it could be taken shows its absence.
    const isSettled = sinceDeadlineMs >= settledMs
    const forMs = deadline - performance.now()
    const reading: Promise<Reading> = find(externalId, search, {
      forMs,
      signal,
      sentAt: stamp,
      isSettled,
    })
    const { call, isSure, failure } = await reading.catch(toldLater)
    if (call) return { call }
    if (callId !== null) return { call: { id: callId } }
    if (isSettled && isSure) return { absent: entry }
    const leftMs = deadline - performance.now()
    if (signal?.aborted || leftMs <= 0) return { failure }
    await pause(Math.min(waitMs, leftMs), signal)
  }
}

/** What a list says of a call, or why it cannot be read. */
interface Reading extends Listed {
  readonly failure?: Failure
}

function toldLater(error: unknown): Reading {
  if (!(error instanceof ApiError)) throw error
  return { call: undefined, isSure: false, failure: error.failure }
}

/**
 * How long before a call was sent its platform may say that it was created, ms: more than any clock
 * is wrong, and more than any time zone is off.
 */
const clockDoubtMs = 24 * 3_600_000

interface Reach {
  readonly forMs: number
  readonly signal: AbortSignal | undefined
  /** When the call was last sent, ms since 1970: then all calls since are looked through for it. */
  readonly sentAt?: number
  /** It is about to be taken for never placed: then it is looked for under another spelling, too. */
  readonly isSettled?: boolean
}

/** What the platform's list says of it now. Throws ApiError. */
export async function find(
  externalId: string,
  { client, request: { params, body } }: Search,
  { forMs, signal, sentAt, isSettled }: Reach,
): Promise<Listed> {
  const filter = { external_id: externalId }
  return withTimeLimit(forMs, signal, async (until) => {
    const readAll = (query: Record<string, unknown>) =>
      client.call(routes.calls.list, { params, query }, until)
    const read = (query: Record<string, unknown>) => readAll({ ...filter, ...query })
    const { items } = await read({ limit: 10 })
    const call = items.find(({ external_id }) => external_id === externalId)
    if (call || (items.length === 0 && !isSettled)) return { call, isSure: true }
    // It shows others, so it ignores the filter. Without a time that is a list without an end.
    if (sentAt === undefined) return { call, isSure: false }
    const created_after = new Date(sentAt - clockDoubtMs).toISOString()
    const toNumber = typeof body?.to_number === 'string' ? body.to_number : undefined
    const sign = { externalId, toNumber }
    if (items.length > 0) return findInPages(sign, (page) => read({ created_after, ...page }))
    // It may keep external ids otherwise than they were given, and then does not find them.
    const query = { agent_id: body?.agent_id, created_after }
    return findRespelled(sign, (page) => readAll({ ...query, ...page }))
  })
}
