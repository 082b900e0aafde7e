import type { Call, PlacedCall } from '../contract/call.ts'
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
  options: Omit<SentOptions, 'sentAt'>,
): Promise<PlacementOutcome> {
  if (entry.state === 'free') return { kind: 'absent', entry }
  const { callId, firstSentAt } = entry
  const isOpen = callId === null
  const sentAt = isOpen ? firstSentAt : undefined
  const look = await lookUpSent(entry.externalId, lookup, { ...options, sentAt }).catch(failureOf)
  switch (look.kind) {
    case 'found':
      // The listed call may be another call with the same external id.
      return {
        kind: 'placed',
        call: isOpen || look.call.id === callId ? look.call : { id: callId },
      }
    case 'absent':
      return { kind: 'absent', entry }
    case 'unknown':
      return isOpen ? look : { kind: 'placed', call: { id: callId } }
  }
}

function failureOf(error: unknown): { readonly kind: 'unknown'; readonly failure: Failure } {
  if (!(error instanceof ApiError)) throw error
  return { kind: 'unknown', failure: error.failure }
}

/** Result of a search in the platform's list, by the rules in call-matching.ts. */
type LookUp =
  | { readonly kind: 'found'; readonly call: Call }
  /** The call certainly does not exist. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly doubt: Doubt | undefined }

interface LookUpOptions {
  readonly forMs: number
  readonly signal: AbortSignal | undefined
}

interface SentOptions extends LookUpOptions {
  /**
   * Time of the first send, ms since 1970. `undefined`: not known, so only the list filtered by
   * external id is read.
   */
  readonly sentAt: number | undefined
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
    const search: Search = {
      wanted: wantedCall(externalId, context.request, { wasSent: false }),
      since: Date.now() - keptForMs,
      ids: filtered.items.length === 0 ? 'also by absence' : 'others',
      isKnown: isKnownBy(context),
    }
    return listedIn(filtered.items, search) ?? (await searchAll(search, readInTime))
  })

/** Looks up a call that was sent. Throws ApiError and JournalError. */
const lookUpSent = (
  externalId: string,
  context: LookupContext,
  { sentAt, isSettled, ...options }: SentOptions,
): Promise<LookUp> =>
  withList(context, options, async ({ read, readInTime }) => {
    const { items } = await read({ external_id: externalId, limit: 10 })
    const search: Search = {
      wanted: wantedCall(externalId, context.request, { wasSent: true }),
      since: (sentAt ?? Date.now()) - clockDoubtMs,
      ids: 'nothing',
      isKnown: isKnownBy(context),
    }
    const listed = listedIn(items, search)
    if (listed) return listed
    if (sentAt === undefined || (items.length === 0 && !isSettled)) return nothingKnown
    const found = await searchAll(search, readInTime)
    return found.kind === 'absent' && !isSettled ? nothingKnown : found
  })

interface Page {
  readonly items: readonly Call[]
  readonly count?: number | undefined
}
type Query = Readonly<Record<string, unknown>>

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

const isKnownBy =
  ({ journal, callOwner }: LookupContext): Search['isKnown'] =>
  async ({ id }) =>
    (await journal.placedAgoMs(callOwner, id)) !== undefined

interface Search {
  readonly wanted: WantedCall
  /** Start of the search period, ms since 1970. */
  readonly since: number
  readonly ids: IdEvidence
  /** True if the listed call is in the journal, as the call of another request. */
  readonly isKnown: (call: Call) => Promise<boolean>
}

/** Finds the wanted call by its external id. */
function listedIn(items: readonly Call[], { wanted }: Search): LookUp | undefined {
  const listed = items.filter((item) => isListedAs(item, wanted))
  const call = listed.find((item) => wanted.isOurId || !isAnotherPerson(item, wanted))
  if (call && !wanted.wasSent && isMasked(call, wanted))
    return { kind: 'unknown', doubt: { kind: 'may be it', call } }
  if (call) return { kind: 'found', call }
  const [another] = listed
  return another && { kind: 'unknown', doubt: { kind: 'another person', call: another } }
}

async function doubtIn(items: readonly Call[], search: Search): Promise<Doubt | undefined> {
  for (const item of items)
    if (mayBe(item, search.wanted, search) && !(await search.isKnown(item)))
      return { kind: 'may be it', call: item }
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
    const listed = listedIn(items, search)
    if (listed) return listed
    doubt ??= await doubtIn(items, search)
    counted = Math.max(counted, count)
    for (const { id } of items) seen.add(id)
    if (items.length === 0 && counted <= before && !doubt) return { kind: 'absent' }
    if (seen.size === before) break
  }
  return doubt ? { kind: 'unknown', doubt } : noEnd
}
