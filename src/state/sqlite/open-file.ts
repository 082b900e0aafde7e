import { existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { makePrivateFolder } from '../private-files.ts'

/**
 * An open database file. On most systems an open file can be deleted: the process that has it open
 * continues to read and write it, and no other process finds it.
 */
export interface OpenFile {
  /** Whether a process that opens the path now gets this file. */
  isInPlace(): boolean
  /** Writes a copy to the path, unless there is a file again. */
  restore(db: DatabaseSync): void
}

/** To be called right after the file was opened. */
export function openFileAt(path: string): OpenFile {
  if (path === ':memory:') return { isInPlace: () => true, restore: () => undefined }
  const stat = () => statSync(path, { bigint: true, throwIfNoEntry: false })
  const opened = stat()
  return {
    isInPlace() {
      const now = stat()
      return now !== undefined && now.ino === opened?.ino && now.dev === opened.dev
    },
    restore(db) {
      makePrivateFolder(dirname(path))
      // SQLite would read a log that was left behind as part of the copy.
      if (stat() === undefined && existsSync(`${path}-wal`))
        throw new Error(`it was deleted, but ${path}-wal was not: delete that file, too`)
      const copy = `${path}.${process.pid}`
      rmSync(copy, { force: true })
      db.prepare('VACUUM INTO ?').run(copy)
      try {
        // A link, unlike a renaming, does not replace a file that another process has restored.
        linkSync(copy, path)
      } catch (error) {
        if (stat() === undefined) throw error
      } finally {
        rmSync(copy, { force: true })
      }
    },
  }
}
