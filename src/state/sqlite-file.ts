import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { makePrivateFile } from './folder.ts'

/** A kind of file in which a server remembers something, and several on one machine may share. */
export interface StateFile {
  /** Says whose file it is (https://sqlite.org/pragma.html#pragma_application_id). */
  readonly applicationId: number
  readonly version: number
  /** Makes the tables of a new file. */
  readonly create: (db: DatabaseSync) => void
  /** Makes them of those of the version before; without it such a file is refused. */
  readonly upgrade?: (db: DatabaseSync) => void
}

/** SQLite's result code for a file that another process is writing to. */
const busy = 5

/** How long other processes may keep the file to themselves, ms. */
const patience = 5000

/**
 * Opens, and if need be creates, a file; `:memory:` forgets with the process. Throws for one that
 * another program or version has written, and leaves it as it is.
 */
export async function openStateFile(file: string, kind: StateFile): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite')
  if (file !== ':memory:') makePrivateFile(file)
  // Waiting is done by `patiently`, which lets other work go on meanwhile.
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    // Looked into before anything is changed: it may be somebody else's.
    await patiently(() => stageOf(db, kind))
    // FULL: what says that a call was placed must still be there after a power cut.
    await patiently(() => db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'))
    await patiently(() =>
      transaction(db, 'BEGIN IMMEDIATE', () => {
        if (bringUp(db, kind)) markAs(db, kind)
      }),
    )
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Makes or upgrades the tables; true when it did. */
function bringUp(db: DatabaseSync, kind: StateFile): boolean {
  const stage = stageOf(db, kind)
  if (stage === 'new') kind.create(db)
  if (stage === 'old') kind.upgrade?.(db)
  return stage !== 'current'
}

function markAs(db: DatabaseSync, { applicationId, version }: StateFile): void {
  db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`)
}

const Header = z.object({ application: z.number(), version: z.number(), tables: z.number() })

/** What is in a file: nothing yet, its tables, or those of the version before; throws for others. */
function stageOf(
  db: DatabaseSync,
  { applicationId, version, upgrade }: StateFile,
): 'new' | 'old' | 'current' {
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
    if (header.version === version) return 'current'
    if (header.version === version - 1 && upgrade) return 'old'
    throw new Error(`it was written by another version (${header.version}, not ${version})`)
  }
  if (header.application === 0 && header.version === 0 && header.tables === 0) return 'new'
  throw new Error('it is a database of another program')
}

/** Runs all of `work` or nothing of it. */
export function transaction<T>(db: DatabaseSync, begin: string, work: () => T): T {
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
export async function patiently<T>(work: () => T): Promise<T> {
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
