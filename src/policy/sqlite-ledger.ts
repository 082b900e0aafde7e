import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { type CallCounts, type CallLedger, exceeded, LedgerError, longestWindow } from './ledger.ts'

/** Says whose file it is (https://sqlite.org/pragma.html#pragma_application_id): "dial". */
const applicationId = 0x6469616c
const version = 1

/** Times in ms since 1970; lease_end 0: the call has ended. */
const schema = `
  CREATE TABLE calls (id TEXT PRIMARY KEY, at INTEGER NOT NULL, lease_end INTEGER NOT NULL) STRICT;
  CREATE INDEX calls_at ON calls (at);
  CREATE INDEX calls_lease_end ON calls (lease_end);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${version}`

/** SQLite's result code for a file that another process is writing to. */
const busy = 5

/** How long other processes may keep the file to themselves, ms. */
const patience = 5000

/**
 * A ledger in a file, which outlives the server and which several on one machine may share. The
 * file is opened, and if need be created, at first use; one that cannot be used is tried again at
 * the next. `setting` is where it is named, for errors.
 */
export function createSqliteLedger(file: string, setting: string): CallLedger {
  let opening: Promise<DatabaseSync> | undefined
  const use = async <T>(work: (db: DatabaseSync) => T): Promise<T> => {
    try {
      opening ??= open(file)
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

async function open(file: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite')
  if (file !== ':memory:') makeFolder(dirname(file))
  // Waiting is done by `patiently`, which lets other work go on meanwhile.
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    // Looked into before anything is changed: it may be somebody else's.
    await patiently(() => isEmpty(db))
    // FULL: calls are few, and one that was placed must still be counted after a power cut.
    await patiently(() => db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'))
    await patiently(() =>
      transaction(db, 'BEGIN IMMEDIATE', () => {
        if (isEmpty(db)) db.exec(schema)
      }),
    )
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Step by step: Node's own `recursive` never returns in a folder such as /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error
  }
}

const Header = z.object({ application: z.number(), version: z.number(), tables: z.number() })

/** True for a new file, false for one of ours; throws for anything else. */
function isEmpty(db: DatabaseSync): boolean {
  const header = Header.parse(
    db
      .prepare(
        `SELECT application_id AS application, user_version AS version,
         (SELECT count(*) FROM sqlite_schema) AS tables
         FROM pragma_application_id, pragma_user_version`,
      )
      .get(),
  )
  if (header.application === applicationId) {
    if (header.version === version) return false
    throw new Error(`it was written by another version (${header.version}, not ${version})`)
  }
  if (header.application === 0 && header.version === 0 && header.tables === 0) return true
  throw new Error('it is a database of another program')
}

function transaction<T>(db: DatabaseSync, begin: string, work: () => T): T {
  db.exec(begin)
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // A full disk has rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Does all of `work` again while another process writes, at most for as long as we are patient. */
async function patiently<T>(work: () => T): Promise<T> {
  const end = Date.now() + patience
  for (;;) {
    try {
      return work()
    } catch (error) {
      const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
      if (code !== busy || Date.now() > end) throw error
      // Uneven, so that those who wait do not meet again.
      await sleep(1 + Math.random() * 10)
    }
  }
}
