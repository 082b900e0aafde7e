import { lstatSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import envPaths from 'env-paths'
import { makePrivateFolder } from '../state/private-files.ts'

/**
 * The folder for compiled code, made if need be; `undefined` where no safe one can be had. What lies
 * in it is run, so nobody else may write there: Node's own default is a folder in the temporary
 * folder that all users share, and whoever makes it first owns it.
 */
export function compileCacheFolder(): string | undefined {
  const folder = join(envPaths('voice-agent-mcp', { suffix: '' }).cache, 'compiled')
  try {
    if (!isAbsolute(folder)) return undefined
    makePrivateFolder(folder)
    return isOwn(folder) && isSafe(dirname(folder)) ? folder : undefined
  } catch {
    // A home that cannot be written to: the program starts without a cache.
    return undefined
  }
}

/** A real folder of this user's, not a link to one, that nobody else can write to. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder)
  // On Windows the rights of a user's folders are inherited from the profile.
  if (!process.getuid) return found.isDirectory()
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o022) === 0
}

const root = 0
const writableByOthers = 0o002
const sticky = 0o1000

/** No folder above it lets another user put something in its place. */
function isSafe(folder: string): boolean {
  if (!process.getuid) return true
  const { uid, mode } = statSync(folder)
  const mayReplace = (mode & writableByOthers) !== 0 && (mode & sticky) === 0
  if (mayReplace || (uid !== root && uid !== process.getuid())) return false
  const parent = dirname(folder)
  return parent === folder || isSafe(parent)
}
