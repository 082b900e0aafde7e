import { createHash } from 'node:crypto'
import type { Call, PlacedCall } from '../contract/call.ts'
import { type CallIdentity, type JournalEntry, JournalError } from '../state/journal.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { canonicalJson } from '../text/json.ts'
import { findOutcome, lookUpUnsent } from './find-outcome.ts'
import { isAnotherCall, wantedCall } from './listed-call.ts'
import {
  defaultTiming,
  ExternalIdConflict,
  type LookupContext,
  OutcomeUnknown,
  type Placement,
  type PlacingContext,
  type RepeatContext,
  recordIfPossible,
  settleAbsent,
  settlePlaced,
} from './placement.ts'
import { sendCall } from './send-call.ts'

/**
 * Places a call exactly once. It is recorded in the journal, then sent once. If the outcome is
 * unknown, the platform is asked by external id until it lists the call or time is up; the call is
 * sent once more only when it certainly does not exist. Throws ApiError where the platform refused
 * it, OutcomeUnknown, ExternalIdConflict and JournalError.
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
    // The caller's own external id may have been used by another installation, or before the journal
    // was lost.
    const isMinted = identity.externalId === undefined
    const listed = isMinted ? undefined : await lookUpFirst(entry, placing, signal)
    return listed ?? sendCall(entry, placing, signal)
  }
  const outcome = await repeatOrAbsent(entry, placing, signal)
  if (outcome.kind === 'repeat') return outcome.placement
  // A free entry is claimed again. Another one is taken over, see the protocol in state/journal.ts.
  return outcome.entry.state === 'free'
    ? placeOnce(placing, signal)
    : sendCall(outcome.entry, placing, signal)
}

/**
 * The call that an identical request has placed; `undefined`: there was no such request, or it
 * certainly placed none. To be asked before anything that may fail or refuse: that must not be
 * reported of a call that was sent. Throws OutcomeUnknown, ExternalIdConflict and JournalError.
 */
export async function placedBefore(
  lookup: RepeatContext,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const entry = await journalEntryOf(lookup)
  if (!entry) return undefined
  const outcome = await repeatOrAbsent(entry, lookup, signal)
  return outcome.kind === 'repeat' ? outcome.placement : undefined
}

type Asked = Pick<LookupContext, 'request' | 'callOwner' | 'sameForMs'>

/** What the journal knows of an identical request, without asking the platform. */
export const journalEntryOf = (
  lookup: Asked & Pick<LookupContext, 'journal'>,
): Promise<JournalEntry | undefined> => lookup.journal.find(identityOf(lookup))

/** Looks for a call before it is sent; if that fails, nothing was sent, and the entry is free again. */
async function lookUpFirst(
  entry: JournalEntry,
  lookup: RepeatContext,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const { journal, timing = defaultTiming, until } = lookup
  try {
    const forMs = Math.min(timing.findOutMs, until - performance.now())
    const look = await lookUpUnsent(entry.externalId, lookup, { forMs, signal })
    if (look.kind === 'absent') return undefined
    if (look.kind === 'found') {
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

/** The caller's id stands for a request with other contents. */
const conflictWith = ({ state, externalId, callId }: JournalEntry): Error =>
  state === 'sending'
    ? new OutcomeUnknown(externalId, { doubt: { kind: 'another request' }, wasSent: false })
    : new ExternalIdConflict(callId === null ? {} : { id: callId })

type RepeatOrAbsent =
  | { readonly kind: 'repeat'; readonly placement: Placement }
  | { readonly kind: 'absent'; readonly entry: JournalEntry }

/** The outcome of an identical request, which another request sends or has sent. */
async function repeatOrAbsent(
  entry: JournalEntry,
  lookup: RepeatContext,
  signal: AbortSignal | undefined,
): Promise<RepeatOrAbsent> {
  const outcome = await findOutcome(entry, lookup, signal)
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
  lookup: RepeatContext,
): Promise<Placement> {
  await recordIfPossible(() => lookup.journal.recordPlaced(entry, call.id))
  await settlePlaced(entry, call.id, lookup)
  const isAccepted = (await stateOf(entry, lookup)) !== 'not_taken'
  return { call, externalId: entry.externalId, isRepeat: true, isAccepted }
}

/** The state of an entry; the last known one if the journal fails now, because the call exists. */
async function stateOf(
  entry: JournalEntry,
  { journal }: RepeatContext,
): Promise<JournalEntry['state'] | undefined> {
  try {
    return (await journal.current(entry))?.state
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
    return entry.state
  }
}

/** Which call a request asks for: requests with the same identity ask for the same call. */
function identityOf({ request, callOwner, sameForMs }: Asked): CallIdentity {
  const { external_id, ...rest } = normalised(request.body ?? {})
  const externalId = typeof external_id === 'string' ? external_id : undefined
  const content = createHash('sha256').update(canonicalJson(rest)).digest('base64url')
  return { owner: callOwner, content, externalId, sameForMs }
}

/** One spelling for equal requests: UUIDs in lower case, empty objects left out. */
function normalised(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
  const given = Object.entries(body).filter(([, value]) => value !== undefined && !isEmpty(value))
  const { agent_id, ...rest } = Object.fromEntries(given)
  return { ...rest, agent_id: typeof agent_id === 'string' ? canonicalId(agent_id) : agent_id }
}
