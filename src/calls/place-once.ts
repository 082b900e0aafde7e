import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import { type JournalEntry, JournalError } from '../state/journal.ts'
import { identityOf, refuseOtherCall } from './call-identity.ts'
import { findOutcome } from './find-outcome.ts'
import { lookUpCall } from './look-up-call.ts'
import { settleAbsent, settlePlaced } from './pending-permits.ts'
import { ExternalIdConflict, OutcomeUnknown, type Placement } from './placement.ts'
import {
  defaultTiming,
  type ForRequest,
  type LookupContext,
  type PlacingContext,
  type RepeatContext,
} from './placing-context.ts'
import { recordIfPossible } from './record.ts'
import { sendCall } from './send-call.ts'

/**
 * Places a call exactly once. It is recorded in the journal, then sent once. If the outcome is
 * unknown, the platform is asked by external id until it lists the call or time is up; the call is
 * sent once more only when it certainly does not exist. Throws ApiError where the platform refused
 * it, OutcomeUnknown, ExternalIdConflict and JournalError.
 */
export async function placeOnce(
  request: RouteRequest,
  context: PlacingContext,
  signal: AbortSignal | undefined,
): Promise<Placement> {
  const placing = { ...context, request }
  const identity = identityOf(request, context)
  const claim = await context.journal.claim(identity)
  if (claim.kind === 'conflict') throw new ExternalIdConflict()
  const { entry } = claim
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
    ? placeOnce(request, context, signal)
    : sendCall(outcome.entry, placing, signal)
}

/**
 * The call that an identical request has placed; `undefined`: there was no such request, or it
 * certainly placed none. To be asked before anything that may fail or refuse: that must not be
 * reported of a call that was sent. Throws OutcomeUnknown, ExternalIdConflict and JournalError.
 */
export async function placedBefore(
  request: RouteRequest,
  context: RepeatContext,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const entry = await journalEntryOf(request, context)
  if (!entry) return undefined
  const outcome = await repeatOrAbsent(entry, { ...context, request }, signal)
  return outcome.kind === 'repeat' ? outcome.placement : undefined
}

/** What the journal knows of an identical request, without asking the platform. */
export const journalEntryOf = (
  request: RouteRequest,
  context: Pick<LookupContext, 'journal' | 'callOwner' | 'sameForMs'>,
): Promise<JournalEntry | undefined> => context.journal.find(identityOf(request, context))

type RepeatLookup = RepeatContext & ForRequest

/** Looks for a call before it is sent; if that fails, nothing was sent, and the entry is free again. */
async function lookUpFirst(
  entry: JournalEntry,
  lookup: RepeatLookup,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const { journal, timing = defaultTiming, until } = lookup
  try {
    const forMs = Math.min(timing.findOutMs, until - performance.now())
    const { call } = await lookUpCall(entry.externalId, lookup, { forMs, signal })
    return call && (await repeatOf(call, entry, lookup))
  } catch (error) {
    await recordIfPossible(() => journal.release(entry))
    throw error
  }
}

type RepeatOrAbsent =
  | { readonly kind: 'repeat'; readonly placement: Placement }
  | { readonly kind: 'absent'; readonly entry: JournalEntry }

/** The outcome of an identical request, which another request sends or has sent. */
async function repeatOrAbsent(
  entry: JournalEntry,
  lookup: RepeatLookup,
  signal: AbortSignal | undefined,
): Promise<RepeatOrAbsent> {
  const outcome = await findOutcome(entry, lookup, signal)
  switch (outcome.kind) {
    case 'placed':
      return { kind: 'repeat', placement: await repeatOf(outcome.call, entry, lookup) }
    case 'absent':
      return { kind: 'absent', entry: await settleAbsent(outcome.entry, lookup) }
    case 'unknown':
      throw new OutcomeUnknown(entry.externalId, outcome.failure)
  }
}

async function repeatOf(
  call: PlacedCall | Call,
  entry: JournalEntry,
  { journal, pendingPermits, request }: RepeatLookup,
): Promise<Placement> {
  refuseOtherCall(call, request)
  await recordIfPossible(() => journal.recordPlaced(entry, call.id))
  await settlePlaced(entry, call.id, { pendingPermits })
  const isAccepted = (await stateOf(entry, journal)) !== 'not_taken'
  return { call, externalId: entry.externalId, isRepeat: true, isAccepted }
}

/** The state of an entry; the last known one if the journal fails now, because the call exists. */
async function stateOf(
  entry: JournalEntry,
  journal: PlacingContext['journal'],
): Promise<JournalEntry['state'] | undefined> {
  try {
    return (await journal.current(entry))?.state
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
    return entry.state
  }
}
