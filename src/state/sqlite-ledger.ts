import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { type CallCounts, type CallLedger, exceeded, LedgerError, longestWindow } from './ledger.ts'
import { openStateFile, patiently, type StateFile, transaction } from './sqlite-file.ts'

/** Times in ms since 1970; lease_end 0: the call has ended. */
const kind: StateFile = {
  // "dial"
  applicationId: 0x6469616c,
  version: 1,
  create: (db) =>
    db.exec(`
    CREATE TABLE calls (id TEXT PRIMARY KEY, at INTEGER NOT NULL, lease_end INTEGER NOT NULL) STRICT;
    CREATE INDEX calls_at ON calls (at);
    CREATE INDEX calls_lease_end ON calls (lease_end)`),
}

/** Which calls they became; made in files of earlier versions, too, which do not look at it. */
const placedCalls = `
  CREATE TABLE IF NOT EXISTS placed_calls (
    id TEXT PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    call_id TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS placed_calls_owner ON placed_calls (owner)`

async function openLedger(file: string): Promise<DatabaseSync> {
  const db = await openStateFile(file, kind)
  await patiently(() => db.exec(placedCalls))
  return db
}

/**
 * A ledger in a file, which outlives the server and which several on one machine may share. The
 * file is opened, and if need be created, at first use; one that cannot be used is tried again at
 * the next. `setting` is where it is named, for errors.
 */
export function createSqliteLedger(file: string, setting: string): CallLedger {
  let opening: Promise<DatabaseSync> | undefined
  const use = async <T>(work: (db: DatabaseSync) => T): Promise<T> => {
    try {
      opening ??= openLedger(file)
      const db = await opening.catch((error) => {
        opening = undefined
        throw error
      })
      return await patiently(() => work(db))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new LedgerError(
        `The file of calls ${file} cannot be used: ${reason}. Let this program read and write it and its folder, see that the disk is not full, move the file away, or name another with ${setting}.`,
        { cause: error },
      )
    }
  }
  return {
    look: (limits, now) =>
      use((db) => transaction(db, 'BEGIN', () => exceeded(limits, now, countsIn(db)))),
    reserve: (limits, now, leaseEnd) =>
      use((db) =>
        transaction(db, 'BEGIN IMMEDIATE', () => {
          db.prepare('DELETE FROM calls WHERE at <= ? AND lease_end <= ?').run(
            now - longestWindow,
            now,
          )
          const limit = exceeded(limits, now, countsIn(db))
          if (limit) return { exceeded: limit }
          const id = randomUUID()
          db.prepare('INSERT INTO calls VALUES (?, ?, ?)').run(id, now, leaseEnd)
          return { id }
        }),
      ),
    placed: (id, { owner, callId }) =>
      use((db) => {
        db.prepare(
          'INSERT OR REPLACE INTO placed_calls SELECT id, ?, ? FROM calls WHERE id = ?',
        ).run(owner, callId, id)
      }),
    open: (owner, since) =>
      use((db) =>
        z.array(OpenRow).parse(
          db
            .prepare(
              `SELECT id, call_id AS callId, at FROM placed_calls JOIN calls USING (id)
               WHERE owner = ? AND at > ? AND lease_end > 0 ORDER BY at`,
            )
            .all(owner, since),
        ),
      ),
    renew: (id, leaseEnd) =>
      use((db) => {
        db.prepare('UPDATE calls SET lease_end = ? WHERE id = ? AND lease_end > 0').run(
          leaseEnd,
          id,
        )
      }),
    release: (id) =>
      use((db) => {
        db.prepare('UPDATE calls SET lease_end = 0 WHERE id = ?').run(id)
      }),
    cancel: (id) =>
      use((db) => {
        db.prepare('DELETE FROM calls WHERE id = ?').run(id)
      }),
    close: async () => {
      const db = await opening?.catch(() => undefined)
      opening = undefined
      db?.close()
    },
  }
}

const At = z.object({ at: z.number() }).optional()
const Count = z.object({ count: z.number() })
const OpenRow = z.object({ id: z.string(), callId: z.string(), at: z.number() })

const countsIn = (db: DatabaseSync): CallCounts => ({
  nthNewest: (nth, since) =>
    At.parse(
      db
        .prepare('SELECT at FROM calls WHERE at > ? ORDER BY at DESC LIMIT 1 OFFSET ?')
        .get(since, nth - 1),
    )?.at,
  underWay: (now) =>
    Count.parse(db.prepare('SELECT count(*) AS count FROM calls WHERE lease_end > ?').get(now))
      .count,
})
