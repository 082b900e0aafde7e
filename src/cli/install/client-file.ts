import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getSystemErrorMessage } from 'node:util'
import { makePrivateFolder } from '../../state/private-files.ts'

export interface ClientFile {
  /** Path with symbolic links resolved. */
  readonly path: string
  /** Text without byte order mark; empty for a missing file. */
  readonly text: string
  /** The byte order mark; empty if the file has none. */
  readonly mark: string
  /** `undefined`: the file does not exist. */
  readonly found: { readonly bytes: Buffer; readonly stats: Stats } | undefined
}

/**
 * Thrown if a file cannot be read or written. The message is a clause, such as `it is not a file`.
 */
export class ClientFileError extends Error {
  override readonly name = 'ClientFileError'
}

/** Thrown if another program has changed the file since it was read. */
export class ChangedMeanwhileError extends ClientFileError {}

/** Reads a file, following links. Throws ClientFileError. */
export function readClientFile(path: string): ClientFile {
  const real = realPath(path)
  const found = readBytes(real)
  if (!found) return { path: real, text: '', mark: '', found: undefined }
  const text = decoded(found.bytes)
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return { path: real, text: text.slice(mark.length), mark, found }
}

/** Resolves links, including a link to a missing file. */
function realPath(path: string, links = 0): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || links > 20) throw unreadable(error)
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    return isLink ? realPath(resolve(dirname(path), readlinkSync(path)), links + 1) : path
  }
}

function readBytes(path: string): ClientFile['found'] {
  try {
    // Stats come before the text, so that a change between the two calls is detected later.
    const stats = statSync(path)
    if (!stats.isFile()) throw new ClientFileError('it is not a file')
    return { bytes: readFileSync(path), stats }
  } catch (error) {
    if (error instanceof ClientFileError) throw error
    if (codeOf(error) === 'ENOENT') return undefined
    throw unreadable(error)
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
const unreadable = (error: unknown) => new ClientFileError(`it cannot be read ${causeOf(error)}`)

/** Code of a file system error with its meaning: `(EACCES): permission denied`. */
function causeOf(error: unknown): string {
  const { code, errno } = error as NodeJS.ErrnoException
  return errno === undefined ? `(${code})` : `(${code}): ${getSystemErrorMessage(errno)}`
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ClientFileError('it is not UTF-8 text')
  }
}

/**
 * Replaces a file atomically: writes a temporary file in the same folder, then renames it. A new
 * file, or a file with `isPrivate`, becomes readable by the user only; any other file keeps its
 * mode. If root runs the program, the file keeps its owner. Returns the path of the backup.
 * Requires the lock (withFileLock). Throws ClientFileError.
 */
export function replaceClientFile(
  file: ClientFile,
  text: string,
  { isPrivate }: { isPrivate: boolean },
): string | undefined {
  const { path, mark, found } = file
  try {
    if (found) accessSync(path, constants.W_OK)
    else makePrivateFolder(dirname(path))
    const mode = found && !isPrivate ? found.stats.mode & 0o777 : 0o600
    removeLeftovers(path)
    const temporary = join(
      dirname(path),
      `${temporaryPrefix(path)}${randomBytes(6).toString('hex')}`,
    )
    try {
      writeWhole(temporary, mark + text, mode, found?.stats)
      checkUnchanged(file)
      const backup = found && keepBackup(path, mode)
      renameSync(temporary, path)
      return backup
    } finally {
      rmSync(temporary, { force: true })
    }
  } catch (error) {
    if (error instanceof ClientFileError) throw error
    throw new ClientFileError(`it cannot be written ${causeOf(error)}`)
  }
}

const temporaryPrefix = (path: string) => `.${basename(path)}.voice-agent-mcp.tmp.`

/** Removes temporary files of killed runs, which may hold a key. */
function removeLeftovers(path: string): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder)) {
    if (name.startsWith(temporaryPrefix(path))) rmSync(join(folder, name), { force: true })
  }
}

function writeWhole(path: string, text: string, mode: number, before: Stats | undefined): void {
  writeFileSync(path, text, { flag: 'wx', mode: 0o600, flush: true })
  // With sudo, root would own the new file, and the user could no longer change it.
  if (before && process.getuid?.() === 0) chownSync(path, before.uid, before.gid)
  chmodSync(path, mode)
}

/** Throws ChangedMeanwhileError if the file has changed since it was read. */
function checkUnchanged({ path, found }: ClientFile): void {
  const now = readBytes(path)
  const isSame = found ? now?.bytes.equals(found.bytes) : !now
  if (!isSame) throw new ChangedMeanwhileError('another program changed it meanwhile')
}

const backupSuffix = '.voice-agent-mcp.bak'

/** Backups kept per file. */
const keptBackups = 3

/** Copies a file to a backup beside it. Keeps the three newest backups. */
function keepBackup(path: string, mode: number): string {
  const backup = backupPath(path)
  copyFileSync(path, backup, constants.COPYFILE_EXCL)
  chmodSync(backup, mode)
  for (const old of backupsOf(path).slice(0, -keptBackups)) rmSync(old, { force: true })
  return backup
}

/** Returns an unused path: two runs may start in the same millisecond. */
function backupPath(path: string, at = Date.now()): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]/g, '')
  const backup = `${path}.${time}${backupSuffix}`
  return existsSync(backup) ? backupPath(path, at + 1) : backup
}

/** Backups of a file, oldest first, by the time in their names. */
function backupsOf(path: string): string[] {
  const start = `${basename(path)}.`
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(start) && name.endsWith(backupSuffix))
    .filter((name) => /^\d{8}T\d{6}\.\d{3}Z$/.test(name.slice(start.length, -backupSuffix.length)))
    .toSorted()
    .map((name) => join(dirname(path), name))
}

/**
 * Age from which a lock counts as left by a killed run, ms. A run holds the lock only while it
 * reads and writes one small file.
 */
const abandonedMs = 10_000

/** Retry interval for a lock, ms. */
const pauseMs = 20

/** Wait after which the user is told about the lock, ms. */
const noticeAfterMs = 1000

/**
 * Runs `work` under a lock, which prevents lost updates between two runs of this program. The lock
 * is a file beside the client's file. `onWait` is called once if another run holds the lock for
 * longer than usual. Throws ClientFileError, and the errors of `work`.
 */
export async function withFileLock<T>(
  path: string,
  work: () => T,
  onWait: (lock: string) => void,
): Promise<T> {
  const lock = join(dirname(path), `.${basename(path)}.voice-agent-mcp.lock`)
  for (let waitedMs = 0; !taken(lock); waitedMs += pauseMs) {
    if (waitedMs === noticeAfterMs) onWait(lock)
    if (isAbandoned(lock)) removeAbandoned(lock)
    else await sleep(pauseMs)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Takes the lock. Returns false if another run of this program holds the lock. */
function taken(lock: string): boolean {
  try {
    makePrivateFolder(dirname(lock))
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') {
      throw new ClientFileError(`it cannot be written ${causeOf(error)}`)
    }
    if (!statOf(lock)?.isDirectory()) return false
    throw new ClientFileError(`its lock ${lock} is a folder: remove that`)
  }
}

const statOf = (lock: string) => lstatSync(lock, { throwIfNoEntry: false })

function removeAbandoned(lock: string): void {
  try {
    rmSync(lock, { force: true })
  } catch (error) {
    throw new ClientFileError(`its lock ${lock} cannot be removed ${causeOf(error)}`)
  }
}

/**
 * True if a lock was left by a killed run. Its age is negative if the clock was set back meanwhile.
 */
function isAbandoned(lock: string): boolean {
  const made = statOf(lock)?.mtimeMs
  return made !== undefined && Math.abs(Date.now() - made) > abandonedMs
}
