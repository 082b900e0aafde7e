import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { makePrivateFile } from '../state/private-files.ts'
import { identitySchema, schema, schemaVersion } from './store-schema.ts'

export type SqlParams = Record<string, SQLInputValue>

/**
 * The sandbox's database: one SQLite file, which several processes may share. Whatever keeps the
 * file from being used is thrown as a StoreError.
 */
export interface Store {
  /** All rows of a query, parsed. */
  all<T>(row: z.ZodType<T>, sql: string, params?: SqlParams): T[]
  /** The first row of a query, parsed. */
  get<T>(row: z.ZodType<T>, sql: string, params?: SqlParams): T | undefined
  /** Runs a statement and gives the number of rows it changed. */
  run(sql: string, params?: SqlParams): number
  /** Runs all of `work` or nothing of it; within another transaction it is a part of that. */
  transaction<T>(work: () => T): T
  /** The same; while another process writes, this one waits without being blocked. */
  write<T>(work: () => T): Promise<T>
  /** Runs `work`, which only reads, on one state of the file, whatever other processes write. */
  snapshot<T>(work: () => T): T
  close(): void
}

/** The file cannot be used; the message names it and says what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** How long one process waits for another's write to end. */
const busyTimeoutMs = 5000

/**
 * Opens, and if need be creates, the database. `:memory:` keeps nothing. `fill` is given a new one
 * in the transaction that makes its tables: a file has both or, whenever the process was killed,
 * neither, and of two processes that find no file one fills it. Throws StoreError.
 */
export function openStore(file: string, fill: (store: Store) => void): Store {
  const guard = guardOf(file)
  const db = guard(() => patiently(() => connect(file)))
  try {
    const store = storeOn(db, guard)
    // A file that is there needs no lock, which another process may have.
    if (guard(() => isEmpty(db) || !hasIdentity(db))) {
      store.transaction(() => {
        const isNew = guard(() => createTables(db))
        guard(() => db.exec(identitySchema))
        if (isNew) fill(store)
      })
    }
    return store
  } catch (error) {
    db.close()
    throw error
  }
}

function connect(file: string): DatabaseSync {
  if (file !== ':memory:') makePrivateFile(file)
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    // Looked into before anything is changed: it may be somebody else's.
    isEmpty(db)
    // WAL lets processes read while one writes; NORMAL survives the death of the process.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** SQLite waits for a lock by itself, except for some of those it takes to open and recover. */
function patiently<T>(work: () => T): T {
  const end = Date.now() + busyTimeoutMs
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (resultCode(error) !== busy || Date.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

function storeOn(db: DatabaseSync, guard: Guard): Store {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (!statement) {
      statement = db.prepare(sql)
      // Lists bind every filter they know and name only those in use.
      statement.setAllowUnknownNamedParameters(true)
      statements.set(sql, statement)
    }
    return statement
  }
  const within = <T>(begin: string, work: () => T): T => {
    if (db.isTransaction) return work()
    guard(() => db.exec(begin))
    return finish(work)
  }
  const finish = <T>(work: () => T): T => {
    try {
      const result = work()
      guard(() => db.exec('COMMIT'))
      return result
    } catch (error) {
      // A full disk has rolled back already.
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
  return {
    all: (row, sql, params = {}) =>
      guard(() =>
        prepare(sql)
          .all(params)
          .map((found) => parsed(row, found)),
      ),
    get: (row, sql, params = {}) =>
      guard(() => {
        const found = prepare(sql).get(params)
        return found && parsed(row, found)
      }),
    run: (sql, params = {}) => guard(() => Number(prepare(sql).run(params).changes)),
    // IMMEDIATE: what is read before a write must not be another's to change in between.
    transaction: (work) => within('BEGIN IMMEDIATE', work),
    async write(work) {
      const end = performance.now() + busyTimeoutMs
      while (!guard(() => hasBegun(db, end))) await sleep(1 + Math.random() * 10)
      return finish(work)
    },
    snapshot: (work) => within('BEGIN', work),
    close: () => db.close(),
  }
}

/** Begins to write, unless another process does; then false, or after `end` its error. */
function hasBegun(db: DatabaseSync, end: number): boolean {
  // Otherwise SQLite itself would wait, and with it this whole process.
  db.exec('PRAGMA busy_timeout = 0')
  try {
    db.exec('BEGIN IMMEDIATE')
    return true
  } catch (error) {
    if (resultCode(error) !== busy || performance.now() > end) throw error
    return false
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  }
}

const Header = z.object({ version: z.int(), tables: z.int(), own: z.int() })

/** True for a new file, false for one of ours; throws for anything else. */
function isEmpty(db: DatabaseSync): boolean {
  const { version, tables, own } = Header.parse(
    db
      .prepare(
        `SELECT user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables,
         (SELECT count(*) FROM sqlite_schema WHERE name = 'usage_hours') AS own
         FROM pragma_user_version`,
      )
      .get(),
  )
  if (version === 0 && tables === 0) return true
  if (version === schemaVersion && own === 1) return false
  if (own === 1)
    throw new Error(`it was written by another version (${version}, not ${schemaVersion})`)
  throw new Error('it is a database of another program')
}

/** Files of before have none. */
const hasIdentity = (db: DatabaseSync) =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sandbox'").get() !== undefined

/** Creates the tables of a new file; true when it did. */
function createTables(db: DatabaseSync): boolean {
  if (!isEmpty(db)) return false
  db.exec(schema)
  db.exec(`PRAGMA user_version = ${schemaVersion}`)
  return true
}

/** A row as it was written. One that is not can only come from a damaged file. */
function parsed<T>(row: z.ZodType<T>, found: unknown): T {
  try {
    return row.parse(found)
  } catch (cause) {
    throw Object.assign(new Error('a row is not as it was written', { cause }), {
      errcode: corrupt,
    })
  }
}

/** Runs what uses the file; its errors come out as a StoreError that names the file. */
type Guard = <T>(use: () => T) => T

function guardOf(file: string): Guard {
  return (use) => {
    try {
      return use()
    } catch (error) {
      const code = resultCode(error)
      if (error instanceof StoreError || (code !== undefined && mistakes.has(code))) throw error
      const reason = error instanceof Error ? error.message : String(error)
      const advice = (code !== undefined && advices[code]) || 'Move the file away'
      throw new StoreError(
        `The sandbox database ${file} cannot be used: ${reason}. ${advice}, or name another with ` +
          'VOICE_AGENT_SANDBOX_DB (:memory: keeps nothing).',
        { cause: error },
      )
    }
  }
}

/**
 * SQLite's primary result code (https://sqlite.org/rescode.html) of an error, where it has one. An
 * error of the file system itself, which comes from making the folder, is given that it would have.
 */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, code, syscall } = error as Error & Record<string, unknown>
  if (typeof errcode === 'number') return errcode & 0xff
  if (syscall === undefined) return undefined
  return code === 'ENOSPC' || code === 'EDQUOT' ? full : cannotOpen
}

const busy = 5
const corrupt = 11
const full = 13
const cannotOpen = 14

/** Result codes that tell of a mistake in this program and not of the file. */
const mistakes: ReadonlySet<number> = new Set([1, 18, 19, 20, 21, 25])

const permission = 'Let this program read and write the file and its folder'
const damaged =
  'The file is damaged or no database: move it away together with the -wal and -shm files beside it'

/** What to do, by result code. */
const advices: Readonly<Record<number, string>> = {
  3: permission,
  [busy]: 'Another program keeps it locked: try again, end that program',
  8: permission,
  10: 'Its disk may be full or failing, or a limit on the size of files reached: free space',
  [corrupt]: damaged,
  [full]: 'Free space on its disk',
  [cannotOpen]: `It has to be a file in a folder, not a folder itself. ${permission}`,
  26: damaged,
}
