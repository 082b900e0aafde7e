import { createHmac, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { messageOf } from '../../text/safe-text.ts'
import { makePrivateFile } from '../private-files.ts'
import { openOnce, StateError, stateDeadline } from '../state-access.ts'

/** A kind of database file. Servers on one machine share the file. */
export interface StateFile {
  /**
   * Marks a file as belonging to this program
   * (https://sqlite.org/pragma.html#pragma_application_id).
   */
  readonly applicationId: number
  /** Schema version. A file with another version is refused. */
  readonly version: number
  /** Contents of the file, as errors name them. */
  readonly holds: string
  /** If true, a commit does not wait for the disk, so a power cut may lose the last commits. */
  readonly isRelaxed?: boolean
  /** Creates the tables in a new file. */
  readonly create: (db: DatabaseSync) => void
}

/** An open file. Only files with a secret have a `hash`: see `keyedHashOf`. */
interface OpenFile {
  readonly db: DatabaseSync
  readonly hash: (text: string) => string
}

/**
 * Runs `work` on the open file, and again while another process writes. `work` is synchronous, so
 * it is atomic within this process. Among processes, only a single statement or a transaction is
 * atomic. Throws StateError.
 */
export type UseFile = <R>(work: (file: OpenFile) => R) => Promise<R>

/** A store with a file of its own. */
export interface InFile {
  close(): Promise<void>
}

/**
 * A file that servers on one machine may share; `:memory:` ends with the process. The first use
 * opens or creates it; after a failure the next use tries again. `readAll` never creates the file.
 * `setting`: name of the setting that has the folder, for errors. `opened` runs after each opening;
 * if it throws, the file counts as not opened.
 */
export function lazyStateFile(
  path: string,
  setting: string,
  kind: StateFile,
  opened: (db: DatabaseSync) => void = () => undefined,
) {
  const file = openOnce(async (): Promise<OpenFile> => {
    const db = await openStateFile(path, kind, opened)
    let hash: OpenFile['hash'] | undefined
    return {
      db,
      hash(text) {
        hash ??= keyedHashOf(db)
        return hash(text)
      },
    }
  })
  const use: UseFile = async (work) => {
    try {
      const openFile = await file.get()
      return await retryWhileBusy(() => work(openFile))
    } catch (error) {
      if (error instanceof StateError) throw error
      throw new StateError(
        `The file ${path} cannot be used: ${messageOf(error)}. It holds ${kind.holds}. ${adviceOn(error, setting)}`,
        { cause: error, isTemporary: isLocked(error) },
      )
    }
  }
  return {
    use,
    readAll: <T>(work: (file: OpenFile) => T[]): Promise<T[]> =>
      path === ':memory:' || existsSync(path) ? use(work) : Promise.resolve([]),
    close: () => file.close(({ db }) => db.close()),
  }
}

function adviceOn(error: unknown, setting: string): string {
  if (isLocked(error)) return 'Another program has locked the file: try again, or end that program.'
  const remedy =
    error instanceof OtherVersionError
      ? 'Start the version that wrote it'
      : 'Let this program read and write it and its folder, see that the disk is not full'
  return `${remedy}, or name another folder with ${setting}.`
}

/**
 * Opens or creates a file. Throws for a file of another program or version, and leaves that file
 * unchanged.
 */
async function openStateFile(
  file: string,
  kind: StateFile,
  opened: (db: DatabaseSync) => void,
): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite')
  if (file !== ':memory:') makePrivateFile(file)
  // SQLite's own timeout would block this thread, so `retryWhileBusy` waits instead.
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    // Checked before anything is changed, because the file may belong to another program.
    await retryWhileBusy(() => isMade(db, kind))
    // FULL: committed data survives a power cut.
    const synchronous = kind.isRelaxed ? 'NORMAL' : 'FULL'
    await retryWhileBusy(() =>
      db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`),
    )
    await retryWhileBusy(() =>
      transaction(db, 'BEGIN IMMEDIATE', () => {
        if (!isMade(db, kind)) make(db, kind)
      }),
    )
    await retryWhileBusy(() => opened(db))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Reads a file without changing it; `undefined` if the file is empty. Throws if the file is
 * unusable.
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

/** Thrown for a file with a schema version that this program cannot read. */
class OtherVersionError extends Error {
  override readonly name = 'OtherVersionError'
}

/** True if the file has the tables of its kind, false if it is empty. Throws for any other file. */
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

/** Creates the table with the secret of a new file. */
export function createSecret(db: DatabaseSync): void {
  db.exec('CREATE TABLE secret (secret BLOB NOT NULL) STRICT')
  db.prepare('INSERT INTO secret VALUES (?)').run(randomBytes(32))
}

const SecretRow = z.object({ secret: z.instanceof(Uint8Array) })

/**
 * Returns a function that hashes texts for storage: an HMAC with the file's secret, so that nobody
 * can test guesses against the stored hashes alone.
 */
export function keyedHashOf(db: DatabaseSync): (text: string) => string {
  const { secret } = SecretRow.parse(db.prepare('SELECT secret FROM secret').get())
  return (text) => createHmac('sha256', secret).update(text).digest('base64url')
}

/** Runs `work` in an atomic transaction. */
export function transaction<T>(db: DatabaseSync, begin: string, work: () => T): T {
  db.exec(begin)
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite rolls back by itself if the disk is full.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** SQLite's result code for a file that another process is writing. */
const busy = 5

/** Maximum wait while other processes write, ms. */
const longestWaitMs = 5000

/** True for SQLite's error while another process writes. */
const isLocked = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === busy

/**
 * Runs `work`, and retries while another process writes, for up to `longestWaitMs` and not past the
 * request's deadline.
 */
async function retryWhileBusy<T>(work: () => T | Promise<T>): Promise<T> {
  const end = Math.min(performance.now() + longestWaitMs, stateDeadline())
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isLocked(error) || performance.now() > end) throw error
      // Jitter keeps waiting processes from colliding again.
      await sleep(1 + Math.random() * 10)
    }
  }
}
