import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import envPaths from 'env-paths'

/**
 * The user's home folder; `undefined` if HOME is unset. Node would fall back to the system's list
 * of users.
 */
export const homeFolder = (): string | undefined =>
  process.platform === 'win32' || isAbsolute(process.env.HOME ?? '') ? homedir() : undefined

/** The user's folder for this program's files; `undefined` if no variable names one. */
export function userFolder(kind: 'data' | 'cache'): string | undefined {
  const folder = envPaths('voice-agent-mcp', { suffix: '' })[kind]
  const isXdg = process.platform !== 'darwin' && process.env[`XDG_${kind.toUpperCase()}_HOME`]
  return isAbsolute(folder) && (isXdg || homeFolder()) ? folder : undefined
}

/**
 * Creates a folder and its parents, readable only by this user. Not with `recursive`: Node never
 * returns if the system answers ENOENT for a folder in an existing one, as /proc does.
 */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makePrivateFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!existsSync(path)) throw error
  }
}

/**
 * Creates an empty file and its folder, readable only by this user, whatever the umask. An existing
 * file is unchanged. SQLite gives the files beside a database (-wal, -shm) the same mode.
 */
export function makePrivateFile(path: string): void {
  makePrivateFolder(dirname(path))
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!existsSync(path)) throw error
  }
}
