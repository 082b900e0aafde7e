import * as z from 'zod'
import { type ChangeKey, StoredUndoItem, type UndoBounds, type UndoStore } from '../undo-log.ts'
import {
  createSecret,
  type InFile,
  lazyStateFile,
  type StateFile,
  transaction,
} from './state-file.ts'

/** Owners, changes and objects are stored as keyed hashes (`keyedHashOf`). */
export const undoSchema: StateFile = {
  // "undo" in ASCII.
  applicationId: 0x756e646f,
  version: 1,
  holds: 'earlier values of changed objects',
  isRelaxed: true,
  create(db) {
    db.exec(`
    CREATE TABLE items (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      owner TEXT NOT NULL,
      change TEXT NOT NULL,
      item INTEGER NOT NULL,
      object TEXT NOT NULL,
      at INTEGER NOT NULL,
      value TEXT NOT NULL,
      UNIQUE (owner, change, item)
    ) STRICT;
    CREATE INDEX items_of_owner ON items (owner, seq);
    CREATE INDEX items_of_object ON items (owner, object, seq);
    CREATE INDEX items_by_age ON items (at)`)
    createSecret(db)
  },
}

/** Earlier values in an SQLite file. The first change creates it. */
export function createSqliteUndoStore(path: string, setting: string): UndoStore & InFile {
  const { use, readAll, close } = lazyStateFile(path, setting, undoSchema)
  return {
    add: (change, items, bounds) =>
      use(({ db, hash }) => {
        const at = Date.now()
        const key = hashed(change, hash)
        const insert = db.prepare(addSql)
        transaction(db, 'BEGIN IMMEDIATE', () => {
          for (const { item, object, value } of items)
            insert.run({ ...key, item, object: hash(object), at, value })
          db.prepare('DELETE FROM items WHERE at <= ?').run(at - bounds.maxAgeMs)
          db.prepare(boundOwnerSql).run({ owner: key.owner, max: bounds.perOwner })
          db.prepare(boundSql).run(bounds.inAll)
        })
      }),
    settle: (change, items) =>
      use(({ db, hash }) => {
        const key = hashed(change, hash)
        const update = db.prepare(settleSql)
        transaction(db, 'BEGIN IMMEDIATE', () => {
          for (const { item, value } of items) update.run({ ...key, item, value })
        })
      }),
    ofChange: (change, bounds) =>
      readAll(({ db, hash }) => {
        const values = { ...hashed(change, hash), oldest: oldestOf(bounds) }
        return Items.parse(db.prepare(ofChangeSql).all(values))
      }),
    ofObject: ({ owner, object }, max, bounds) =>
      readAll(({ db, hash }) => {
        const key = { owner: hash(owner), object: hash(object) }
        return Items.parse(db.prepare(ofObjectSql).all({ ...key, oldest: oldestOf(bounds), max }))
      }),
    close,
  }
}

const hashed = ({ owner, change }: ChangeKey, hash: (text: string) => string) => ({
  owner: hash(owner),
  change: hash(change),
})

const oldestOf = ({ maxAgeMs }: UndoBounds) => Date.now() - maxAgeMs

const Items = z.array(StoredUndoItem)

const addSql = `
  INSERT INTO items (owner, change, item, object, at, value)
  VALUES (:owner, :change, :item, :object, :at, :value)`

const settleSql = `
  UPDATE items SET value = :value WHERE owner = :owner AND change = :change AND item = :item`

const boundOwnerSql = `
  DELETE FROM items WHERE owner = :owner AND seq <= (
    SELECT seq FROM items WHERE owner = :owner ORDER BY seq DESC LIMIT 1 OFFSET :max
  )`

// Counts the rows: the numbers of rows have gaps where those of an owner were deleted.
const boundSql = `
  DELETE FROM items WHERE seq IN (
    SELECT seq FROM items ORDER BY seq LIMIT max(0, (SELECT count(*) FROM items) - ?)
  )`

const ofChangeSql = `
  SELECT item, at, value FROM items
  WHERE owner = :owner AND change = :change AND at > :oldest ORDER BY item`

const ofObjectSql = `
  SELECT item, at, value FROM items
  WHERE owner = :owner AND object = :object AND at > :oldest ORDER BY seq DESC LIMIT :max`
