import { lstatSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePrivateFolder, userFolder } from '../state/private-files.ts'

/**
 * Returns the folder for compiled code, created if necessary; `undefined` if no folder is safe.
 * Compiled code is executed, so no other user may write there. Node's default is in the shared
 * temporary folder, where another user may create the folder first.
 */
export function compileCacheFolder(): string | undefined {
  const cache = userFolder('cache')
  if (cache === undefined) return undefined
  const folder = join(cache, 'compiled')
  try {
    makePrivateFolder(folder)
    return isOwn(folder) && isSafe(dirname(folder)) ? folder : undefined
  } catch {
    // The home folder may be read-only: the program starts without a cache.
    return undefined
  }
}

/** True for a folder, not a link, that belongs to this user and that no other user can write to. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder)
  // On Windows a folder inherits its permissions from the user's profile.
  if (!process.getuid) return found.isDirectory()
  return (
    found.isDirectory() && found.uid === process.getuid() && (found.mode & writableByOthers) === 0
  )
}

const root = 0
/** By the group or by all: another user may be a member of the group. */
const writableByOthers = 0o022
const sticky = 0o1000

/** True if no ancestor folder lets another user replace its entries. */
function isSafe(folder: string): boolean {
  if (!process.getuid) return true
  const { uid, mode } = statSync(folder)
  const mayReplace = (mode & writableByOthers) !== 0 && (mode & sticky) === 0
  if (mayReplace || (uid !== root && uid !== process.getuid())) return false
  const parent = dirname(folder)
  return parent === folder || isSafe(parent)
}
