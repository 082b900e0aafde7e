import * as z from 'zod'
import type { CurrentEntry } from '../journal.ts'
import { entryOf } from '../journal-rules.ts'
import { databaseNow, mostClockDifferenceMs } from './database.ts'

/** A row of the journal, and what the database's clock said when it was read. */
export const JournalRow = z.object({
  owner: z.string(),
  external_id: z.string(),
  content: z.string(),
  state: z.enum(['sending', 'placed', 'not_taken', 'free']),
  since: z.coerce.number(),
  replica_since: z.coerce.number(),
  call_id: z.string().nullable(),
  now: z.coerce.number(),
})
export type JournalRow = z.output<typeof JournalRow>

export const rowColumns = `owner, external_id, content, state, since, replica_since, call_id, ${databaseNow} AS now`

/**
 * How long ago a row got into its state, ms, negative before its deadline. It is measured by the clock
 * of the database and by that of the servers, because either may be set. `undefined` where they
 * disagree.
 */
export function elapsedSince({
  since,
  replica_since,
  now,
}: Pick<JournalRow, 'since' | 'replica_since' | 'now'>): number | undefined {
  const byDatabase = now - since
  const byReplica = Date.now() - replica_since
  const isKnown = Math.abs(byDatabase - byReplica) < mostClockDifferenceMs
  return isKnown ? Math.min(byDatabase, byReplica) : undefined
}

export const currentEntry = (row: JournalRow, sinceDeadlineMs: number): CurrentEntry => ({
  ...entryOf(row),
  sinceDeadlineMs,
})
