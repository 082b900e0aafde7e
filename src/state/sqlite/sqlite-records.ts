import { createHmac, randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { NewRecord, RecordBounds, RecordKey, Records } from '../records.ts'
import { StateError } from '../state-error.ts'
import { lazyStateFile, openStateFile, type StateFile, transaction } from './state-file.ts'

/** Ids and owners are stored as an HMAC with the secret of the file, as in the journal. */
export const recordsSchema: StateFile = {
  // "kept"
  applicationId: 0x6b657074,
  version: 1,
  create(db) {
    db.exec(`
    CREATE TABLE records (
      kind TEXT NOT NULL,
      id TEXT NOT NULL,
      owner TEXT NOT NULL,
      value TEXT NOT NULL,
      expires INTEGER NOT NULL,
      PRIMARY KEY (kind, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX records_by_owner ON records (kind, owner);
    CREATE INDEX records_by_end ON records (expires);
    CREATE TABLE secret (secret BLOB NOT NULL) STRICT`)
    db.prepare('INSERT INTO secret VALUES (?)').run(randomBytes(32))
  },
}

interface OpenRecords {
  readonly db: DatabaseSync
  readonly seal: (text: string) => string
}

const SecretRow = z.object({ secret: z.instanceof(Uint8Array) })

async function open(path: string): Promise<OpenRecords> {
  const db = await openStateFile(path, recordsSchema)
  const { secret } = SecretRow.parse(db.prepare('SELECT secret FROM secret').get())
  return { db, seal: (text) => createHmac('sha256', secret).update(text).digest('base64url') }
}

export interface SqliteRecords extends Records {
  close(): Promise<void>
}

/**
 * Records in an SQLite file, which several servers on one machine may share. The file is opened, and
 * created if it is missing, with the first use; where that fails, the next use tries again. `setting`
 * is what names the folder, for errors.
 */
export function createSqliteRecords(path: string, setting: string): SqliteRecords {
  const { use, close } = lazyStateFile(
    () => open(path),
    (reason, options) =>
      new StateError(
        `The file ${path} cannot be used: ${reason}. It holds what servers remember for a while, such as used confirmations. Let this program read and write it and its folder, or name another folder with ${setting}.`,
        options,
      ),
  )
  return {
    add: (record, bounds) =>
      use(({ db, seal }) =>
        transaction(db, 'BEGIN IMMEDIATE', () => addRow(db, sealed(record, seal), bounds)),
      ),
    put: (record, bounds) =>
      use(({ db, seal }) =>
        transaction(db, 'BEGIN IMMEDIATE', () => putRow(db, sealed(record, seal), bounds)),
      ),
    get: (key) => use(({ db, seal }) => readValue(db, { ...key, id: seal(key.id) })),
    remove: ({ kind, id }) =>
      use(
        ({ db, seal }) =>
          db.prepare(removeSql).run({ kind, id: seal(id), now: Date.now() }).changes === 1,
      ),
    close: () => close(({ db }) => db.close()),
  }
}

const sealed = (record: NewRecord, seal: OpenRecords['seal']): NewRecord => ({
  ...record,
  id: seal(record.id),
  owner: seal(record.owner),
})

const getSql = 'SELECT value FROM records WHERE kind = :kind AND id = :id AND expires > :now'
const removeSql = 'DELETE FROM records WHERE kind = :kind AND id = :id AND expires > :now'
const addSql = 'INSERT INTO records VALUES (:kind, :id, :owner, :value, :expires)'
const countSql = `
  SELECT count(*) AS inAll, count(*) FILTER (WHERE owner = :owner) AS ofOwner
  FROM records WHERE kind = :kind`

const ValueRow = z.object({ value: z.string() }).optional()
const CountRow = z.object({ inAll: z.number(), ofOwner: z.number() })

const readValue = (db: DatabaseSync, { kind, id }: RecordKey): string | undefined =>
  ValueRow.parse(db.prepare(getSql).get({ kind, id, now: Date.now() }))?.value

function addRow(
  db: DatabaseSync,
  { kind, id, owner, value, forMs }: NewRecord,
  bounds: RecordBounds | undefined,
): 'added' | 'exists' | 'full' {
  const now = Date.now()
  db.prepare('DELETE FROM records WHERE expires <= ?').run(now)
  if (readValue(db, { kind, id }) !== undefined) return 'exists'
  if (bounds) {
    const { inAll, ofOwner } = CountRow.parse(db.prepare(countSql).get({ kind, owner }))
    if (inAll >= bounds.inAll || ofOwner >= bounds.perOwner) return 'full'
  }
  db.prepare(addSql).run({ kind, id, owner, value, expires: now + Math.ceil(forMs) })
  return 'added'
}

function putRow(
  db: DatabaseSync,
  record: NewRecord,
  bounds: RecordBounds | undefined,
): 'kept' | 'full' {
  const { kind, id } = record
  const isThere = readValue(db, { kind, id }) !== undefined
  if (isThere) db.prepare(removeSql).run({ kind, id, now: Date.now() })
  return addRow(db, record, isThere ? undefined : bounds) === 'full' ? 'full' : 'kept'
}
