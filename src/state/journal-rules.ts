import { randomBytes } from 'node:crypto'
import { type JournalEntry, longestSendMs } from './journal.ts'

/** What a claim does with the entry that stands for it; see the protocol in journal.ts. */
export type ClaimStep = 'insert' | 'reuse' | 'theirs' | 'conflict'

/** The entry is read and written in one operation among all processes. */
export function claimStep(
  found: { readonly state: JournalEntry['state']; readonly content: string } | undefined,
  content: string,
): ClaimStep {
  if (!found) return 'insert'
  // There is no call, so the id may be used for a corrected one, too.
  if (found.state === 'free') return 'reuse'
  return found.content === content ? 'theirs' : 'conflict'
}

/** What every implementation stores of an entry. */
interface StoredEntry {
  readonly owner: string
  readonly external_id: string
  readonly state: JournalEntry['state']
  /** When it got into its state: the stamp that its holder knows it by. */
  readonly since: number
  readonly call_id: string | null
}

export const entryOf = (row: StoredEntry): JournalEntry => ({
  owner: row.owner,
  externalId: row.external_id,
  state: row.state,
  stamp: row.since,
  callId: row.call_id,
})

/** Short, in lower case, letters and digits: the platform is to store it unchanged. */
export const mintExternalId = (): string => `auto-${randomBytes(12).toString('hex')}`

/** How far ahead of the clock a stamp is at most unless the clock was set back, ms. */
export const longestStampAheadMs = 2 * longestSendMs
