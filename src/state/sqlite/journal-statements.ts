import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { Timestamp } from '../timestamp.ts'

const JournalRow = z.object({
  owner: z.string(),
  external_id: z.string(),
  content: z.string(),
  state: z.enum(['sending', 'placed', 'not_taken', 'free']),
  since: z.number(),
  uptime: z.number(),
  boot: z.string(),
  call_id: z.string().nullable(),
})
export type JournalRow = z.output<typeof JournalRow>

const NoteRow = z.object({ value: z.string() })

/** The primary key of a row. */
export interface RowKey {
  readonly owner: string
  readonly externalId: string
}

const rowOf = (row: unknown): JournalRow | undefined =>
  row === undefined ? undefined : JournalRow.parse(row)

const columns = ({ since, uptime, boot }: Timestamp) => [since, uptime, boot] as const

/** The statements of the journal, on an open file. */
export const journalStatements = (db: DatabaseSync) => ({ ...reads(db), ...writes(db) })

export type JournalStatements = ReturnType<typeof journalStatements>

function reads(db: DatabaseSync) {
  const byId = db.prepare('SELECT * FROM calls WHERE owner = ? AND external_id = ?')
  // A call of unknown outcome stays the same call until its outcome is known. A free row is the last
  // choice: that one request came to nothing does not undo another that was placed. A row is recent
  // where either clock says so: setting the clock forward causes no second call.
  const byContent = db.prepare(
    `SELECT * FROM calls WHERE owner = ? AND content = ? AND minted = 1
     AND (state = 'sending' OR since > ? OR (boot = ? AND uptime > ?))
     ORDER BY state = 'free', since DESC LIMIT 1`,
  )
  const byCall = db.prepare('SELECT * FROM calls WHERE owner = ? AND call_id = ?')
  const readNote = db.prepare('SELECT value FROM notes WHERE name = ?')
  return {
    byId: ({ owner, externalId }: RowKey) => rowOf(byId.get(owner, externalId)),
    byCall: (owner: string, callId: string) => rowOf(byCall.get(owner, callId)),
    /** The latest with this content after an instant. */
    byContent: (owner: string, content: string, after: Timestamp) =>
      rowOf(byContent.get(owner, content, after.since, after.boot, after.uptime)),
    readNote: (name: string) => NoteRow.optional().parse(readNote.get(name))?.value,
  }
}

function writes(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO calls (owner, external_id, content, minted, state, since, uptime, boot)
     VALUES (?, ?, ?, ?, 'sending', ?, ?, ?)`,
  )
  const reuse = db.prepare(
    `UPDATE calls SET state = 'sending', content = ?, since = ?, uptime = ?, boot = ?
     WHERE owner = ? AND external_id = ?`,
  )
  const restamp = db.prepare(
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
  const writeNote = db.prepare('INSERT OR REPLACE INTO notes VALUES (?, ?)')
  return {
    insert: (
      { owner, externalId }: RowKey,
      { content, isMinted }: { content: string; isMinted: boolean },
      at: Timestamp,
    ) => void insert.run(owner, externalId, content, Number(isMinted), ...columns(at)),
    reuse: ({ owner, externalId }: RowKey, content: string, at: Timestamp) =>
      void reuse.run(content, ...columns(at), owner, externalId),
    /** Gives a row that is being sent another timestamp; false when it no longer has this stamp. */
    restamp: ({ owner, externalId }: RowKey, stamp: number, at: Timestamp) =>
      restamp.run(...columns(at), owner, externalId, stamp).changes === 1,
    settle: (
      { owner, externalId }: RowKey,
      { state, callId }: { state: 'placed' | 'not_taken'; callId: string },
      at: Timestamp,
    ) => void settle.run(state, callId, ...columns(at), owner, externalId),
    release: ({ owner, externalId }: RowKey, stamp: number) =>
      void release.run(owner, externalId, stamp),
    writeNote: (name: string, value: string) => void writeNote.run(name, value),
    /** Deletes rows from before an instant. */
    purge: ({ since, uptime, boot }: Timestamp) => void purge.run(since, boot, uptime),
  }
}
