import { createHmac, randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { makePrivateFile } from '../private-files.ts'
import { openOnce, type StateErrorOptions, stateUntil } from '../state-access.ts'

/** A kind of database file that several servers on one machine may share. */
export interface StateFile {
  /** Marks the file as one of this program (https://sqlite.org/pragma.html#pragma_application_id). */
  readonly applicationId: number
  /** Of the tables; a file of another version is refused. */
  readonly version: number
  /** Creates the tables in a new file. */
  readonly create: (db: DatabaseSync) => void
}

/** SQLite's result code for a file that another process is writing to. */
const busy = 5

/** How long to wait for other processes that write to the file, ms. */
const longestWaitMs = 5000

/**
 * Opens a file, and creates it if it is missing; `:memory:` ends with the process. Throws for one that
 * another program or version has written, and leaves it as it is.
 */
export async function openStateFile(file: string, kind: StateFile): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite')
  if (file !== ':memory:') makePrivateFile(file)
  // SQLite would block this thread while it waits; `retryWhileBusy` waits instead.
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    // Checked before anything is changed: it may belong to another program.
    await retryWhileBusy(() => isMade(db, kind))
    // FULL: what was written survives a power cut.
    await retryWhileBusy(() => db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'))
    await retryWhileBusy(() =>
      transaction(db, 'BEGIN IMMEDIATE', () => {
        if (!isMade(db, kind)) make(db, kind)
      }),
    )
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Reads a file without a change to it; `undefined`: it holds nothing yet. Throws for one that cannot be
 * used.
 */
export async function inspectStateFile<T>(
  file: string,
  kind: StateFile,
  read: (db: DatabaseSync) => T,
): Promise<T | undefined> {
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(file, { readOnly: true, timeout: 0 })
  try {
    return await retryWhileBusy(() => (isMade(db, kind) ? read(db) : undefined))
  } finally {
    db.close()
  }
}

function make(db: DatabaseSync, { applicationId, version, create }: StateFile): void {
  create(db)
  db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`)
}

const FileHeader = z.object({ application: z.number(), version: z.number(), tables: z.number() })

/** The file is of a version of this program that this one cannot read. */
export class OtherVersionError extends Error {
  override readonly name = 'OtherVersionError'
}

/** Whether a file has its tables; false: it holds nothing yet. Throws for anything else. */
function isMade(db: DatabaseSync, { applicationId, version }: StateFile): boolean {
  const header = FileHeader.parse(
    db
      .prepare(
        `SELECT application_id AS application, user_version AS version,
         (SELECT count(*) FROM sqlite_schema) AS tables
         FROM pragma_application_id, pragma_user_version`,
      )
      .get(),
  )
  if (header.application === applicationId) {
    if (header.version === version) return true
    throw new OtherVersionError(
      `it was written by another version (${header.version}, not ${version})`,
    )
  }
  if (header.application === 0 && header.version === 0 && header.tables === 0) return false
  throw new Error('it is a database of another program')
}

/** Makes the secret of a new file. */
export function createSecret(db: DatabaseSync): void {
  db.exec('CREATE TABLE secret (secret BLOB NOT NULL) STRICT')
  db.prepare('INSERT INTO secret VALUES (?)').run(randomBytes(32))
}

const SecretRow = z.object({ secret: z.instanceof(Uint8Array) })

/**
 * Seals texts as they are stored in a file: as an HMAC with its secret. Without the secret, guesses cannot
 * be tested against what is stored.
 */
export function sealOf(db: DatabaseSync): (text: string) => string {
  const { secret } = SecretRow.parse(db.prepare('SELECT secret FROM secret').get())
  return (text) => createHmac('sha256', secret).update(text).digest('base64url')
}

/** A file that is opened with its first use. */
export interface LazyStateFile<T> {
  /** Runs `work` on the open file, and again while another process writes to it. */
  use<R>(work: (opened: T) => R): Promise<R>
  close(close: (opened: T) => void): Promise<void>
}

/**
 * Where the file cannot be opened, the next use tries again. Every failure is thrown as the error that
 * `unusable` makes of its reason.
 */
export function lazyStateFile<T>(
  open: () => Promise<T>,
  unusable: (reason: string, options: StateErrorOptions) => Error,
): LazyStateFile<T> {
  const file = openOnce(open)
  return {
    async use(work) {
      try {
        const opened = await file.get()
        return await retryWhileBusy(() => work(opened))
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw unusable(reason, { cause: error, isTemporary: isLocked(error) })
      }
    },
    close: file.close,
  }
}

/** Runs `work` in a transaction: all of it takes effect, or nothing. */
export function transaction<T>(db: DatabaseSync, begin: string, work: () => T): T {
  db.exec(begin)
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite rolls back by itself where the disk is full.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Whether an error of SQLite says that another process writes to the file. */
export const isLocked = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === busy

/** Runs `work`, and again while another process writes to the file, for some seconds at most. */
export async function retryWhileBusy<T>(work: () => T | Promise<T>): Promise<T> {
  const end = Math.min(performance.now() + longestWaitMs, stateUntil())
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isLocked(error) || performance.now() > end) throw error
      // Random, so that processes that wait do not collide again.
      await sleep(1 + Math.random() * 10)
    }
  }
}
