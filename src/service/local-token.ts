import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { callingSettings } from '../config/calling.ts'
import { ConfigError } from '../config/config-error.ts'
import { settingLabel } from '../config/setting.ts'
import { localTokenPrefix } from '../session/credential.ts'
import { makePrivateFolder } from '../state/private-files.ts'
import type { LocalToken } from '../transports/own-key.ts'

const stateDirLabel = settingLabel(callingSettings, 'state-dir')

/**
 * The local token of a state directory. It is made once and is the same for all servers that use the
 * directory, so clients keep working after a restart; `:memory:` has a new one each time. Throws
 * ConfigError.
 */
export async function openLocalToken(stateDir: string): Promise<LocalToken> {
  if (stateDir === ':memory:') return { token: newToken(), file: undefined }
  const file = join(stateDir, 'local-token')
  try {
    if (!existsSync(file)) create(file, stateDir)
    return { token: read(file), file }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(
      `The local token cannot be kept in ${file}: ${reason}. Name another folder with ${stateDirLabel}, or do without it with --local-token off.`,
    )
  }
}

const newToken = () => localTokenPrefix + randomBytes(32).toString('base64url')

/**
 * Writes a new token to another file first, and links it to its place when it is complete: no process
 * reads a part of it, and of two processes that start at the same time both use the first one's.
 */
function create(file: string, folder: string): void {
  makePrivateFolder(folder)
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeSync(descriptor, `${newToken()}\n`)
    fsyncSync(descriptor)
    linkSync(draft, file)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(file)) throw error
  } finally {
    closeSync(descriptor)
    rmSync(draft)
  }
}

function read(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    refuseIfShared(file, descriptor)
    const text = readFileSync(descriptor, 'utf8').trim()
    if (new RegExp(`^${localTokenPrefix}[\\w-]{43}$`).test(text)) return text
    throw new ConfigError(
      `${file} holds no local token. Delete the file: the next start makes a new one.`,
    )
  } finally {
    closeSync(descriptor)
  }
}

/** On Windows the rights of a file come from its folder, and are not checked. */
function refuseIfShared(file: string, descriptor: number): void {
  if (!process.getuid) return
  const { uid, mode } = fstatSync(descriptor)
  if (uid !== process.getuid()) {
    throw new ConfigError(
      `${file} belongs to another user, who could know the local token. Delete it, or name another folder with ${stateDirLabel}.`,
    )
  }
  if ((mode & 0o077) === 0) return
  throw new ConfigError(
    `${file} can be read by other users. Delete it for a new local token, or remove their permissions (chmod 600) if no one has read it. On a disk without file permissions, name another folder with ${stateDirLabel}.`,
  )
}
