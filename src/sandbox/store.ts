import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import * as z from 'zod'
import { schema, schemaVersion } from './store-schema.ts'

export type SqlParams = Record<string, SQLInputValue>

/** The sandbox's database: one SQLite file, which several processes may share. */
export interface Store {
  /** All rows of a query, parsed. */
  all<T>(row: z.ZodType<T>, sql: string, params?: SqlParams): T[]
  /** The first row of a query, parsed. */
  get<T>(row: z.ZodType<T>, sql: string, params?: SqlParams): T | undefined
  /** Runs a statement and gives the number of rows it changed. */
  run(sql: string, params?: SqlParams): number
  /** Runs all of `work` or nothing of it. */
  transaction<T>(work: () => T): T
  /** True when this opening created the tables. */
  readonly isNew: boolean
  close(): void
}

/** The file cannot be used; the message names it and says what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** Opens, and if need be creates, the database. `:memory:` keeps nothing. Throws StoreError. */
export function openStore(file: string): Store {
  try {
    return open(file)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreError(
      `The sandbox database ${file} cannot be used: ${reason}. Move the file away or name another ` +
        'with VOICE_AGENT_SANDBOX_FILE (:memory: keeps nothing).',
    )
  }
}

function open(file: string): Store {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const db = new DatabaseSync(file)
  // WAL lets processes read while one writes; NORMAL survives the death of the process.
  db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  db.exec('PRAGMA foreign_keys = ON')
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
  const transaction = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      db.exec('COMMIT')
      return result
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
  return {
    all: (row, sql, params = {}) =>
      prepare(sql)
        .all(params)
        .map((found) => row.parse(found)),
    get(row, sql, params = {}) {
      const found = prepare(sql).get(params)
      return found && row.parse(found)
    },
    run: (sql, params = {}) => Number(prepare(sql).run(params).changes),
    transaction,
    isNew: transaction(() => migrate(db)),
    close: () => db.close(),
  }
}

/** Creates the tables of a new file; true when it did. */
function migrate(db: DatabaseSync): boolean {
  const row = db.prepare('PRAGMA user_version').get()
  const { user_version } = z.object({ user_version: z.int() }).parse(row)
  if (user_version === schemaVersion) return false
  if (user_version !== 0) {
    throw new Error(`it was written by another version (${user_version}, not ${schemaVersion})`)
  }
  db.exec(schema)
  db.exec(`PRAGMA user_version = ${schemaVersion}`)
  return true
}
