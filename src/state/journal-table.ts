import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { Moment } from './moment.ts'

const Row = z.object({
  owner: z.string(),
  external_id: z.string(),
  content: z.string(),
  state: z.enum(['sending', 'placed', 'not_taken', 'free']),
  since: z.number(),
  uptime: z.number(),
  call_id: z.string().nullable(),
})
export type Row = z.output<typeof Row>

const Note = z.object({ value: z.string() })

/** A row by which it is known. */
export interface RowKey {
  readonly owner: string
  readonly externalId: string
}

const found = (row: unknown): Row | undefined => (row === undefined ? undefined : Row.parse(row))

/** The statements of the journal, on an open file. */
export function journalTable(db: DatabaseSync) {
  const byId = db.prepare('SELECT * FROM calls WHERE owner = ? AND external_id = ?')
  // What nobody knows the outcome of stays the same call until somebody does; and one that came to
  // nothing says nothing of one that was placed. The later of two clocks that disagree is not
  // believed: a clock that was set forward makes nobody ring again.
  const byContent = db.prepare(
    `SELECT * FROM calls WHERE owner = ? AND content = ? AND minted = 1
     AND (state = 'sending' OR since > ? OR (boot = ? AND uptime > ?))
     ORDER BY state = 'free', since DESC LIMIT 1`,
  )
  const byCall = db.prepare('SELECT * FROM calls WHERE owner = ? AND call_id = ?')
  const insert = db.prepare(
    `INSERT INTO calls (owner, external_id, content, minted, state, since, uptime, boot)
     VALUES (?, ?, ?, ?, 'sending', ?, ?, ?)`,
  )
  const reuse = db.prepare(
    `UPDATE calls SET state = 'sending', content = ?, since = ?, uptime = ?, boot = ?
     WHERE owner = ? AND external_id = ?`,
  )
  const resend = db.prepare(
    `UPDATE calls SET since = ?, uptime = ?, boot = ?
     WHERE owner = ? AND external_id = ? AND state = 'sending' AND since = ?`,
  )
  const settle = db.prepare(
    `UPDATE calls SET state = ?, call_id = ?, since = ?, uptime = ?, boot = ?
     WHERE owner = ? AND external_id = ? AND state NOT IN ('placed', 'not_taken')`,
  )
  const release = db.prepare(
    `UPDATE calls SET state = 'free'
     WHERE owner = ? AND external_id = ? AND state = 'sending' AND since = ?`,
  )
  const purge = db.prepare('DELETE FROM calls WHERE since < ? AND NOT (boot = ? AND uptime >= ?)')
  const noted = db.prepare('SELECT value FROM notes WHERE name = ?')
  const note = db.prepare('INSERT OR REPLACE INTO notes VALUES (?, ?)')
  const at = ({ since, uptime, boot }: Moment) => [since, uptime, boot] as const
  return {
    byId: ({ owner, externalId }: RowKey) => found(byId.get(owner, externalId)),
    byCall: (owner: string, callId: string) => found(byCall.get(owner, callId)),
    /** The latest that was the same, and was so after a moment. */
    byContent: (owner: string, content: string, after: Moment) =>
      found(byContent.get(owner, content, after.since, after.boot, after.uptime)),
    insert: (
      { owner, externalId }: RowKey,
      { content, isMinted }: { content: string; isMinted: boolean },
      moment: Moment,
    ) => void insert.run(owner, externalId, content, Number(isMinted), ...at(moment)),
    reuse: ({ owner, externalId }: RowKey, content: string, moment: Moment) =>
      void reuse.run(content, ...at(moment), owner, externalId),
    /** Moves what is being sent from one moment to another; false when somebody else has. */
    resend: ({ owner, externalId }: RowKey, before: number, moment: Moment) =>
      resend.run(...at(moment), owner, externalId, before).changes === 1,
    settle: (
      { owner, externalId }: RowKey,
      { state, callId }: { state: 'placed' | 'not_taken'; callId: string },
      moment: Moment,
    ) => void settle.run(state, callId, ...at(moment), owner, externalId),
    release: ({ owner, externalId }: RowKey, since: number) =>
      void release.run(owner, externalId, since),
    noted: (name: string) => Note.optional().parse(noted.get(name))?.value,
    note: (name: string, value: string) => void note.run(name, value),
    /** Forgets what was before a moment. */
    purge: ({ since, uptime, boot }: Moment) => void purge.run(since, boot, uptime),
  }
}

export type JournalTable = ReturnType<typeof journalTable>
