import { existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { makeFolder } from './folder.ts'

/** Where an open file is, as others find it. */
export interface FilePlace {
  /** Whether who opens it by its name finds this very file. */
  isThere(): boolean
  /** Writes a copy there; what is there meanwhile stays. */
  putBack(db: DatabaseSync): void
}

/**
 * The place of a file that was just opened: on most systems an open file can be deleted, and goes
 * on to work for who has it open, while others no longer find it.
 */
export function filePlace(file: string): FilePlace {
  if (file === ':memory:') return { isThere: () => true, putBack: () => undefined }
  const look = () => statSync(file, { bigint: true, throwIfNoEntry: false })
  const first = look()
  return {
    isThere() {
      const now = look()
      return now !== undefined && now.ino === first?.ino && now.dev === first.dev
    },
    putBack(db) {
      makeFolder(dirname(file))
      // SQLite would take it for part of the copy, which it is not.
      if (look() === undefined && existsSync(`${file}-wal`))
        throw new Error(`it was deleted, and what belongs to it was not: delete ${file}-wal, too`)
      const copy = `${file}.${process.pid}`
      rmSync(copy, { force: true })
      db.prepare('VACUUM INTO ?').run(copy)
      try {
        // Unlike a renaming, it does not replace what another process has put back.
        linkSync(copy, file)
      } catch (error) {
        if (look() === undefined) throw error
      } finally {
        rmSync(copy, { force: true })
      }
    },
  }
}
