import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { type AuditQuery, AuditRow, type AuditTrail } from '../audit-trail.ts'
import { type InFile, lazyStateFile, type StateFile } from './state-file.ts'

export const auditSchema: StateFile = {
  // "audt" in ASCII.
  applicationId: 0x61756474,
  version: 1,
  holds: 'the audit trail',
  isRelaxed: true,
  create(db) {
    db.exec(`
    CREATE TABLE entries (
      id TEXT PRIMARY KEY,
      at INTEGER NOT NULL,
      tool TEXT NOT NULL,
      outcome TEXT NOT NULL,
      key TEXT NOT NULL,
      entry TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entries_by_age ON entries (at, id)`)
  },
}

/** An audit trail in an SQLite file. The first entry creates it. */
export function createSqliteAuditTrail(path: string, setting: string): AuditTrail & InFile {
  const { use, readAll, close } = lazyStateFile(path, setting, auditSchema)
  return {
    save: (entry) =>
      use(({ db }) => {
        const { id, tool, outcome, key } = entry
        const at = Date.parse(entry.time)
        db.prepare(saveSql).run({ id, at, tool, outcome, key, entry: JSON.stringify(entry) })
      }),
    list: (query) => readAll(({ db }) => rowsOf(db, query)),
    prune: (before, max) => use(({ db }) => Number(db.prepare(pruneSql).run(before, max).changes)),
    close,
  }
}

const saveSql = `
  INSERT INTO entries VALUES (:id, :at, :tool, :outcome, :key, :entry)
  ON CONFLICT (id) DO UPDATE SET outcome = :outcome, entry = :entry
    WHERE :outcome <> 'begun' OR entries.outcome = 'begun'`

const pruneSql = `
  DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE at < ? ORDER BY at, id LIMIT ?)`

const listSql = `
  SELECT entry FROM entries
  WHERE at >= coalesce(:since, at) AND at < coalesce(:until, at + 1)
    AND tool = coalesce(:tool, tool) AND outcome = coalesce(:outcome, outcome)
    AND substr(key, 1, length(:key)) = :key
    AND (:beforeAt IS NULL OR (at, id) < (:beforeAt, :beforeId))
  ORDER BY at DESC, id DESC LIMIT :limit`

function rowsOf(db: DatabaseSync, { since, until, tool, outcome, key, before, limit }: AuditQuery) {
  const rows = db.prepare(listSql).all({
    since: since ?? null,
    until: until ?? null,
    tool: tool ?? null,
    outcome: outcome ?? null,
    key: key ?? '',
    beforeAt: before ? Date.parse(before.time) : null,
    beforeId: before?.id ?? null,
    limit,
  })
  return z
    .array(AuditRow)
    .parse(rows)
    .map(({ entry }) => entry)
}
