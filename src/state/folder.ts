import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, for this user alone, and those it is in. Step by step, because Node's own
 * `recursive` never returns where the system answers "no such folder" to making one in a folder
 * that exists, as /proc does.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error
  }
}

/**
 * Makes an empty file, for this user alone whatever the umask, in a folder that is made if need be.
 * A file that exists stays as it is. SQLite gives the files beside a database the same rights.
 */
export function makePrivateFile(path: string): void {
  makeFolder(dirname(path))
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error
  }
}
