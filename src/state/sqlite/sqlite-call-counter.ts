import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import {
  type CallCounter,
  type CallCounts,
  exceededLimit,
  longestWindow,
  OpenCall,
} from '../call-counter.ts'
import { type InFile, lazyStateFile, type StateFile, transaction } from './state-file.ts'

/**
 * Times are ms since 1970. `lease_end` is 0 once the call has ended. `placed_calls` has the ids of
 * placed calls, `reserved_calls` the keys of their journal entries.
 */
export const callCounterSchema: StateFile = {
  // "dial" in ASCII.
  applicationId: 0x6469616c,
  version: 1,
  holds: 'the placed calls, which count towards limits',
  create: (db) =>
    db.exec(`
    CREATE TABLE calls (id TEXT PRIMARY KEY, at INTEGER NOT NULL, lease_end INTEGER NOT NULL) STRICT;
    CREATE INDEX calls_at ON calls (at);
    CREATE INDEX calls_lease_end ON calls (lease_end);
    CREATE TABLE placed_calls (
      id TEXT PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
      owner TEXT NOT NULL,
      call_id TEXT NOT NULL
    ) STRICT;
    CREATE INDEX placed_calls_owner ON placed_calls (owner);
    CREATE TABLE reserved_calls (
      id TEXT PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
      owner TEXT NOT NULL,
      external_id TEXT NOT NULL
    ) STRICT;
    CREATE INDEX reserved_calls_external_id ON reserved_calls (external_id)`),
}

/** A call counter in an SQLite file. */
export function createSqliteCallCounter(
  path: string,
  setting: string,
  now: () => number = Date.now,
): CallCounter & InFile {
  const { use, close } = lazyStateFile(path, setting, callCounterSchema)
  return {
    check: (limits) =>
      use(({ db }) => transaction(db, 'BEGIN', () => exceededLimit(limits, now(), countsIn(db)))),
    reserve: (limits, leaseMs, call) =>
      use(({ db }) =>
        transaction(db, 'BEGIN IMMEDIATE', () => {
          const at = now()
          const outdated = db.prepare('DELETE FROM calls WHERE at <= ? AND lease_end <= ?')
          outdated.run(at - longestWindow, at)
          const exceeded = exceededLimit(limits, at, countsIn(db))
          if (exceeded) return { exceeded }
          const id = randomUUID()
          db.prepare('INSERT INTO calls VALUES (?, ?, ?)').run(id, at, at + leaseMs)
          if (call) {
            const { owner, externalId } = call
            db.prepare('INSERT INTO reserved_calls VALUES (?, ?, ?)').run(id, owner, externalId)
          }
          return { id }
        }),
      ),
    pending: ({ owner, externalId }) =>
      use(({ db }) => {
        const rows = z.array(IdRow).parse(db.prepare(pendingSql).all(owner, externalId))
        return rows.map(({ id }) => id)
      }),
    notPlaced: (id) => use(({ db }) => void db.prepare('DELETE FROM calls WHERE id = ?').run(id)),
    placed: (id, { owner, callId }) =>
      use(({ db }) => void db.prepare(placedSql).run(owner, callId, id)),
    open: (owner, withinMs) =>
      use(({ db }) => z.array(OpenCall).parse(db.prepare(openSql).all(owner, now() - withinMs))),
    renew: (id, leaseMs) => use(({ db }) => void db.prepare(renewSql).run(now() + leaseMs, id)),
    ended: (id) => use(({ db }) => void db.prepare(endedSql).run(id)),
    close,
  }
}

const IdRow = z.object({ id: z.string() })
const pendingSql = `
  SELECT id FROM reserved_calls JOIN calls USING (id)
  WHERE owner = ? AND external_id = ? AND lease_end > 0 AND id NOT IN (SELECT id FROM placed_calls)`

const placedSql = 'INSERT OR REPLACE INTO placed_calls SELECT id, ?, ? FROM calls WHERE id = ?'
const openSql = `
  SELECT id, call_id AS callId FROM placed_calls JOIN calls USING (id)
  WHERE owner = ? AND at > ? AND lease_end > 0 ORDER BY at`
const renewSql = 'UPDATE calls SET lease_end = ? WHERE id = ? AND lease_end > 0'
const endedSql = 'UPDATE calls SET lease_end = 0 WHERE id = ?'

const AtRow = z.object({ at: z.number() }).optional()
const CountRow = z.object({ count: z.number() })

const nthNewestSql = 'SELECT at FROM calls WHERE at > ? ORDER BY at DESC LIMIT 1 OFFSET ?'
const underWaySql = 'SELECT count(*) AS count FROM calls WHERE lease_end > ?'

const countsIn = (db: DatabaseSync): CallCounts => ({
  nthNewest: (nth, since) => AtRow.parse(db.prepare(nthNewestSql).get(since, nth - 1))?.at,
  underWay: (now) => CountRow.parse(db.prepare(underWaySql).get(now)).count,
})
