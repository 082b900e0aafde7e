import type { Call, PlacedCall } from '../contract/call.ts'
import type { ReplyOf, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { ApiError, type Failure } from '../platform/failure.ts'
import { pause, withTimeLimit } from '../platform/time-limit.ts'
import { type CurrentEntry, type JournalEntry, keptForMs } from '../state/call-journal.ts'
import {
  type IdEvidence,
  isAnotherPerson,
  isListedAs,
  isMasked,
  mayBe,
  type WantedCall,
  wantedCall,
} from './call-matching.ts'
import type { Doubt, LookupContext } from './placement.ts'

/** Outcome of a request to place a call, from the journal and the platform's list. */
export type PlacementOutcome =
  | { readonly kind: 'placed'; readonly call: PlacedCall | Call }
  /** The call does not exist, and no server will send it while its journal entry has this stamp. */
  | { readonly kind: 'absent'; readonly entry: JournalEntry }
  /** `failure`: the reason why the platform gave no answer; absent if it answered. */
  | {
      readonly kind: 'unknown'
      readonly failure?: Failure | undefined
      readonly doubt?: Doubt | undefined
    }

/**
 * Polls the platform's list until the list has the call, until the call is certainly absent because
 * enough time has passed since the send, or until time is up. Retries failed requests. Reads the
 * journal before each poll, because another request that sends the call records its outcome there.
 */
export async function findPlacementOutcome(
  entry: JournalEntry,
  lookup: LookupContext,
  signal: AbortSignal | undefined,
): Promise<PlacementOutcome> {
  const { findOutMs, settledMs } = lookup.timing
  const deadline = Math.min(performance.now() + findOutMs, lookup.until)
  let doubt: Doubt | undefined
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 4000)) {
    const current = await lookup.journal.current(entry)
    // The entry was pruned. The journal keeps entries for longer than a request can be in flight.
    if (!current) return { kind: 'absent', entry }
    const forMs = deadline - performance.now()
    // Determined before the list is read: only a list that is read later can prove an absence.
    const isSettled = current.sinceDeadlineMs >= settledMs
    const outcome = await outcomeNow(current, lookup, { forMs, signal, isSettled })
    if (outcome.kind !== 'unknown') return outcome
    // If the list cannot be read, the doubt of the last successful reading remains.
    if (!outcome.failure) doubt = outcome.doubt
    const leftMs = deadline - performance.now()
    if (signal?.aborted || leftMs <= 0 || (isSettled && doubt)) return { ...outcome, doubt }
    await pause(Math.min(waitMs, leftMs), signal)
  }
}

async function outcomeNow(
  entry: CurrentEntry,
  lookup: LookupContext,
  options: SentOptions,
): Promise<PlacementOutcome> {
  if (entry.state === 'free') return { kind: 'absent', entry }
  const { callId } = entry
  const look = await lookUpSent(entry, lookup, options).catch(failureOf)
  if (callId === null) return look.kind === 'absent' ? { kind: 'absent', entry } : look
  // The listed call may be another call with the same external id.
  const isListed = look.kind === 'placed' && look.call.id === callId
  return { kind: 'placed', call: isListed ? look.call : { id: callId } }
}

function failureOf(error: unknown): { readonly kind: 'unknown'; readonly failure: Failure } {
  if (!(error instanceof ApiError)) throw error
  return { kind: 'unknown', failure: error.failure }
}

/** Result of a search in the platform's list, by the rules in call-matching.ts. */
type LookUp =
  | { readonly kind: 'placed'; readonly call: Call }
  /** The call certainly does not exist. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly doubt: Doubt | undefined }

interface LookUpOptions {
  readonly forMs: number
  readonly signal: AbortSignal | undefined
}

interface SentOptions extends LookUpOptions {
  /** True if enough time has passed since the send for the list to prove an absence. */
  readonly isSettled: boolean
}

/**
 * Maximum time by which the platform's date of a call may precede its send, ms. Exceeds clock
 * errors and time zone differences.
 */
const clockDoubtMs = 24 * 3_600_000

const limit = 100

const nothingKnown: LookUp = { kind: 'unknown', doubt: undefined }
const noEnd: LookUp = { kind: 'unknown', doubt: { kind: 'endless list' } }

/**
 * Looks up a call with the caller's own external id before its first send. Reads all calls of the
 * journal's retention time; `unknown` if time is up before that is done. Throws ApiError and
 * JournalError.
 */
export const lookUpUnsent = (
  externalId: string,
  context: LookupContext,
  options: LookUpOptions,
): Promise<LookUp> =>
  withList(context, options, async ({ readInTime }) => {
    const filtered = await readInTime({ external_id: externalId, limit: 10 })
    if (!filtered) return noEnd
    const wanted = wantedCall(externalId, context.request, { wasSent: false })
    const ids = filtered.items.length === 0 ? 'also by absence' : 'others'
    const search: Search = { wanted, since: Date.now() - keptForMs, ids, context }
    return listedIn(filtered.items, wanted) ?? (await searchAll(search, readInTime))
  })

/**
 * Looks up a call that was sent. If the call id is known, reads only the list filtered by external
 * id. Throws ApiError and JournalError.
 */
const lookUpSent = (
  { externalId, callId, firstSentAt }: JournalEntry,
  context: LookupContext,
  { isSettled, ...options }: SentOptions,
): Promise<LookUp> =>
  withList(context, options, async ({ read, readInTime }) => {
    const { items } = await read({ external_id: externalId, limit: 10 })
    const wanted = wantedCall(externalId, context.request, { wasSent: true })
    const listed = listedIn(items, wanted)
    if (listed) return listed
    if (callId !== null || (items.length === 0 && !isSettled)) return nothingKnown
    const since = firstSentAt - clockDoubtMs
    const found = await searchAll({ wanted, since, ids: 'nothing', context }, readInTime)
    return found.kind === 'absent' && !isSettled ? nothingKnown : found
  })

type Query = RouteRequest['query']
type Page = ReplyOf<typeof routes.calls.list>

interface List {
  readonly read: (query: Query) => Promise<Page>
  /** Reads a page of the list; `undefined` if time is up. */
  readonly readInTime: (query: Query) => Promise<Page | undefined>
}

function withList(
  { client, request: { params } }: LookupContext,
  { forMs, signal }: LookUpOptions,
  work: (list: List) => Promise<LookUp>,
): Promise<LookUp> {
  const until = performance.now() + forMs
  return withTimeLimit(forMs, signal, (limited) => {
    const read = (query: Query) => client.call(routes.calls.list, { params, query }, limited)
    const readInTime = (query: Query) =>
      read(query).catch((error: unknown) => {
        if (performance.now() < until || signal?.aborted) throw error
        return undefined
      })
    return work({ read, readInTime })
  })
}

interface Search {
  readonly wanted: WantedCall
  /** Start of the search period, ms since 1970. */
  readonly since: number
  readonly ids: IdEvidence
  readonly context: LookupContext
}

/** Finds the wanted call by its external id. */
function listedIn(items: readonly Call[], wanted: WantedCall): LookUp | undefined {
  const listed = items.filter((item) => isListedAs(item, wanted))
  const call = listed.find((item) => wanted.isOurId || !isAnotherPerson(item, wanted))
  if (call && !wanted.wasSent && isMasked(call, wanted))
    return { kind: 'unknown', doubt: { kind: 'may be it', call } }
  if (call) return { kind: 'placed', call }
  const [another] = listed
  return another && { kind: 'unknown', doubt: { kind: 'another person', call: another } }
}

/** Finds a listed call that may be the wanted one, and is not in the journal as another call. */
async function doubtIn(items: readonly Call[], search: Search): Promise<Doubt | undefined> {
  const { journal, callOwner } = search.context
  for (const call of items)
    if (
      mayBe(call, search.wanted, search) &&
      (await journal.placedAgoMs(callOwner, call.id)) === undefined
    )
      return { kind: 'may be it', call }
  return undefined
}

/** Searches all calls of the search period, which the platform may list in any order. */
async function searchAll(search: Search, readInTime: List['readInTime']): Promise<LookUp> {
  const created_after = new Date(search.since).toISOString()
  const seen = new Set<string>()
  let counted = 0
  let doubt: Doubt | undefined
  for (;;) {
    const before = seen.size
    const page = await readInTime({ created_after, limit, offset: before })
    if (!page) break
    const { items, count = 0 } = page
    const listed = listedIn(items, search.wanted)
    if (listed) return listed
    doubt ??= await doubtIn(items, search)
    counted = Math.max(counted, count)
    for (const { id } of items) seen.add(id)
    if (items.length === 0 && counted <= before && !doubt) return { kind: 'absent' }
    if (seen.size === before) break
  }
  return doubt ? { kind: 'unknown', doubt } : noEnd
}
