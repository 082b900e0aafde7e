import {
  type CallIdentity,
  type Claim,
  type CurrentEntry,
  type JournalEntry,
  longestSendMs,
  sameCallMs,
} from '../journal.ts'
import { claimStep, entryOf, longestStampAheadMs, mintExternalId } from '../journal-rules.ts'
import { elapsedSince, type Timestamp, timestampIn } from '../timestamp.ts'
import type { JournalRow, JournalStatements } from './journal-statements.ts'

/*
 * The steps of the journal's protocol (see journal.ts) on rows. Each runs without a pause; those that
 * read and then write run in a transaction. Owners and contents are sealed already.
 */

/** The row that stands for an identity: its own, else one of a former owner. */
export function rowFor(
  statements: JournalStatements,
  { owner, formerOwners, content, externalId, sameForMs = sameCallMs }: CallIdentity,
): JournalRow | undefined {
  const after = timestampIn(-sameForMs)
  const of = (one: string) =>
    externalId === undefined
      ? statements.byContent(one, content, after)
      : statements.byId({ owner: one, externalId })
  const own = of(owner)
  if (own && own.state !== 'free') return own
  // A free row of a former owner says nothing about this request.
  const former = formerOwners.map(of).find((row) => row !== undefined && row.state !== 'free')
  return former ?? own
}

export function claimRow(statements: JournalStatements, identity: CallIdentity): Claim {
  const { owner, content } = identity
  const row = rowFor(statements, identity)
  const step = claimStep(row, content)
  if (row && step === 'reuse') {
    const at = laterThan(row.since, timestampIn())
    statements.reuse({ owner, externalId: row.external_id }, content, at)
    return mine(owner, row.external_id, at)
  }
  if (row) return step === 'conflict' ? { kind: step } : { kind: 'theirs', entry: entryOf(row) }
  const isMinted = identity.externalId === undefined
  const externalId = identity.externalId ?? mintExternalId()
  const at = timestampIn()
  statements.insert({ owner, externalId }, { content, isMinted }, at)
  return mine(owner, externalId, at)
}

const mine = (owner: string, externalId: string, { since }: Timestamp): Claim => ({
  kind: 'mine',
  entry: { owner, externalId, state: 'sending', stamp: since, callId: null },
})

/** `undefined`: the entry has another stamp by now, so another caller holds it. */
export function beginSendingRow(
  statements: JournalStatements,
  entry: JournalEntry,
  forMs: number,
): JournalEntry | undefined {
  const deadline = laterThan(entry.stamp, timestampIn(forMs))
  const isHolder = statements.restamp(entry, entry.stamp, deadline)
  return isHolder ? { ...entry, stamp: deadline.since } : undefined
}

export function currentRow(
  statements: JournalStatements,
  entry: JournalEntry,
): CurrentEntry | undefined {
  const row = statements.byId(entry)
  if (!row) return undefined
  const sinceDeadlineMs = elapsedSince(row)
  if (sinceDeadlineMs !== undefined || row.state !== 'sending')
    return { ...entryOf(row), sinceDeadlineMs: sinceDeadlineMs ?? 0 }
  // The elapsed time is unknown: the sender may have begun only now.
  const renewed = beginSendingRow(statements, entryOf(row), longestSendMs)
  return { ...(renewed ?? entryOf(row)), sinceDeadlineMs: -longestSendMs }
}

/**
 * A stamp is never used twice: it identifies the holder. Where the clock was set back by more than a
 * holder can still be at work, the stamp is that of the clock: as one that is ahead of the clock, it
 * would differ from the uptime until the clock has caught up, and so long the elapsed time is unknown.
 */
const laterThan = (stamp: number, at: Timestamp): Timestamp =>
  stamp - at.since > longestStampAheadMs ? at : { ...at, since: Math.max(at.since, stamp + 1) }
