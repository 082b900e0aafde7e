import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import envPaths from 'env-paths'

/**
 * The user's home folder; `undefined` if HOME is unset. Node would then look it up in the system's
 * list of users.
 */
export const homeFolder = (): string | undefined =>
  process.platform === 'win32' || isAbsolute(process.env.HOME ?? '') ? homedir() : undefined

/** The user's folder for files of this program; `undefined` if no environment variable names it. */
export function userFolder(kind: 'data' | 'cache'): string | undefined {
  const folder = envPaths('voice-agent-mcp', { suffix: '' })[kind]
  const isXdg = process.platform !== 'darwin' && process.env[`XDG_${kind.toUpperCase()}_HOME`]
  return isAbsolute(folder) && (isXdg || homeFolder()) ? folder : undefined
}

/**
 * Creates a folder and its parents, readable only by this user. Does not use `recursive`: Node
 * would never return if the system answers ENOENT for a folder in an existing folder, as /proc
 * does.
 */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makePrivateFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created the folder meanwhile.
    if (!existsSync(path)) throw error
  }
}

/**
 * Creates an empty file and its folder, readable only by this user, whatever the umask. Leaves an
 * existing file unchanged. SQLite gives its files beside a database (-wal, -shm) the same mode.
 */
export function makePrivateFile(path: string): void {
  makePrivateFolder(dirname(path))
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    // Another process may have created the file meanwhile.
    if (!existsSync(path)) throw error
  }
}

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

/**
 * Reason why this program cannot write in a folder; `undefined`: it can. For a missing folder,
 * checks the nearest existing parent, in which the folder would be created. Removes its probe file.
 */
export function unwritableFolder(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is not a folder`
    const probe = mkdtempSync(join(existing, '.voice-agent-mcp-'))
    try {
      writeFileSync(join(probe, 'probe'), 'a')
    } finally {
      rmSync(probe, { recursive: true })
    }
    return undefined
  } catch (error) {
    return `${existing} cannot be written to (${codeOf(error)})`
  }
}

/** Reason why this program cannot write to an existing file; `undefined`: it can. */
export function unwritableFile(file: string): string | undefined {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return `${file} cannot be read and written (${codeOf(error)})`
  }
}

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return existsSync(path) || parent === path ? path : nearestExisting(parent)
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)
