import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { NewRecord, RecordBounds, RecordKey, Records } from '../records.ts'
import {
  createSecret,
  type InFile,
  lazyStateFile,
  type StateFile,
  transaction,
} from './state-file.ts'

/** Ids and owners are stored as keyed hashes (`keyedHashOf`). */
export const recordsSchema: StateFile = {
  // "kept" in ASCII.
  applicationId: 0x6b657074,
  version: 2,
  holds: 'records that expire, such as used confirmations',
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
    CREATE INDEX records_by_end ON records (expires);
    CREATE TABLE record_counts (
      kind TEXT NOT NULL,
      owner TEXT NOT NULL, -- '': all of the kind
      count INTEGER NOT NULL,
      PRIMARY KEY (kind, owner)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER record_added AFTER INSERT ON records BEGIN
      INSERT INTO record_counts VALUES (NEW.kind, '', 1), (NEW.kind, NEW.owner, 1)
        ON CONFLICT DO UPDATE SET count = count + 1;
    END;
    CREATE TRIGGER record_removed AFTER DELETE ON records BEGIN
      UPDATE record_counts SET count = count - 1 WHERE kind = OLD.kind AND owner IN ('', OLD.owner);
      DELETE FROM record_counts WHERE kind = OLD.kind AND owner = OLD.owner AND count = 0;
    END`)
    createSecret(db)
  },
}

/** Records in an SQLite file. */
export function createSqliteRecords(path: string, setting: string): Records & InFile {
  const { use, close } = lazyStateFile(path, setting, recordsSchema)
  return {
    add: (record, bounds) =>
      use(({ db, hash }) =>
        transaction(db, 'BEGIN IMMEDIATE', () => addRow(db, hashed(record, hash), bounds)),
      ),
    put: (record, bounds) =>
      use(({ db, hash }) =>
        transaction(db, 'BEGIN IMMEDIATE', () => putRow(db, hashed(record, hash), bounds)),
      ),
    replace: ({ kind, id, value, forMs }, from) =>
      use(({ db, hash }) => {
        const now = Date.now()
        const expires = now + Math.ceil(forMs)
        const values = { kind, id: hash(id), value, from, expires, now }
        return db.prepare(replaceSql).run(values).changes === 1
      }),
    get: (key) => use(({ db, hash }) => readValue(db, { ...key, id: hash(key.id) })),
    remove: ({ kind, id }) =>
      use(
        ({ db, hash }) =>
          db.prepare(removeSql).run({ kind, id: hash(id), now: Date.now() }).changes === 1,
      ),
    close,
  }
}

const hashed = (record: NewRecord, hash: (text: string) => string): NewRecord => ({
  ...record,
  id: hash(record.id),
  owner: hash(record.owner),
})

const getSql = 'SELECT value FROM records WHERE kind = :kind AND id = :id AND expires > :now'
const removeSql = 'DELETE FROM records WHERE kind = :kind AND id = :id AND expires > :now'
const addSql = 'INSERT INTO records VALUES (:kind, :id, :owner, :value, :expires)'
const replaceSql = `
  UPDATE records SET value = :value, expires = :expires
  WHERE kind = :kind AND id = :id AND value = :from AND expires > :now`
const countSql = `
  SELECT coalesce(max(count) FILTER (WHERE owner = ''), 0) AS inAll,
    coalesce(max(count) FILTER (WHERE owner = :owner), 0) AS ofOwner
  FROM record_counts WHERE kind = :kind AND owner IN ('', :owner)`

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
