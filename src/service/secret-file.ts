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
import { dirname } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { settingLabel } from '../config/setting.ts'
import { stateSettings } from '../config/state.ts'
import { makePrivateFolder } from '../state/private-files.ts'

/** A secret that this program makes once and keeps in a file that only its user can read. */
export interface KeptSecret {
  readonly file: string
  /** What it is, for messages: `local token`. */
  readonly name: string
  readonly make: () => string
  readonly pattern: RegExp
}

export const stateDirLabel = settingLabel(stateSettings, 'state-dir')

/** Reads the secret, and makes it if there is none. Throws ConfigError, and errors of the file system. */
export function readOrMakeSecret(secret: KeptSecret): string {
  if (!existsSync(secret.file)) create(secret)
  return read(secret)
}

/**
 * Writes a new secret to another file first, and links it to its place when it is complete: no process
 * reads a part of it, and of two processes that start at the same time both use the first one's.
 */
function create({ file, make }: KeptSecret): void {
  makePrivateFolder(dirname(file))
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeSync(descriptor, `${make()}\n`)
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

function read(secret: KeptSecret): string {
  const { file, name, pattern } = secret
  const descriptor = openSync(file, 'r')
  try {
    refuseIfShared(secret, descriptor)
    const text = readFileSync(descriptor, 'utf8').trim()
    if (pattern.test(text)) return text
    throw new ConfigError(
      `${file} holds no ${name}. Delete the file: the next start makes a new one.`,
    )
  } finally {
    closeSync(descriptor)
  }
}

/** On Windows the rights of a file come from its folder, and are not checked. */
function refuseIfShared({ file, name }: KeptSecret, descriptor: number): void {
  if (!process.getuid) return
  const { uid, mode } = fstatSync(descriptor)
  if (uid !== process.getuid()) {
    throw new ConfigError(
      `${file} belongs to another user, who could know the ${name}. Delete it, or name another folder with ${stateDirLabel}.`,
    )
  }
  if ((mode & 0o077) === 0) return
  throw new ConfigError(
    `${file} can be read by other users. Delete it for a new ${name}, or remove their permissions (chmod 600) if no one has read it. On a disk without file permissions, name another folder with ${stateDirLabel}.`,
  )
}
