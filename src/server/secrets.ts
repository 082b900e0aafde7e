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
import { dirname, join } from 'node:path'
import { ConfigError } from '../cli/config/config-error.ts'
import { settingLabel } from '../cli/config/setting.ts'
import { type StateConfig, secretsIn, stateSettings } from '../cli/config/state.ts'
import { localTokenPrefix } from '../platform/sessions/credential.ts'
import { makePrivateFolder } from '../state/private-files.ts'
import { type SealingKeys, type Secrets, sealingKeysFrom } from '../state/sealing.ts'
import { openOnce, StateError } from '../state/state-access.ts'
import { messageOf } from '../text/safe-text.ts'
import type { LocalToken } from './transports/http-authentication.ts'

const fileLabel = settingLabel(stateSettings, 'secret-file')

/**
 * Derives the sealing keys from the operator's secrets, read now, or otherwise from a secret in the
 * state directory, generated at first use. Throws ConfigError.
 */
export function openSealingKeys({ dir, secrets }: StateConfig): SealingKeys {
  if (secrets !== undefined) {
    const given = 'texts' in secrets ? secrets.texts : secretsOfFile(secrets.file)
    return sealingKeysFrom(async () => given)
  }
  if (dir === ':memory:') {
    const made: Secrets = [newSecret()]
    return sealingKeysFrom(async () => made)
  }
  const kept = openOnce(async (): Promise<Secrets> => [keptSecret(dir)])
  return sealingKeysFrom(kept.get)
}

function secretsOfFile(file: string): Secrets {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`The file of ${fileLabel} cannot be read: ${messageOf(error)}.`)
  }
  return secretsIn(text, '\n', `${file}, the file of ${fileLabel},`)
}

/**
 * Reads the secret of the sealing keys, if one exists, to report faults. Throws ConfigError and
 * StateError.
 */
export async function checkSecret(state: StateConfig): Promise<void> {
  const keys = openSealingKeys(state)
  if (state.secrets || existsSync(keptSecretFile(state.dir))) await keys.of('inspection')
}

/** File of the generated secret, for operators who configure no secret. */
const keptSecretFile = (dir: string): string => join(dir, 'secret')

function keptSecret(dir: string): string {
  const file = keptSecretFile(dir)
  try {
    return readOrMakeSecret({ file, name: 'secret', make: newSecret, pattern: /^[\w-]{43}$/ })
  } catch (error) {
    throw new StateError(
      `The secret that confirmations are signed with cannot be kept in ${file}: ${messageOf(error).replace(/\.$/, '')}. Let this program write there, or give a secret with ${settingLabel(stateSettings, 'secret')}.`,
      { cause: error },
    )
  }
}

const newSecret = () => randomBytes(32).toString('base64url')

/**
 * Returns the local token of a state directory. The token is created once and shared by all servers
 * with this directory, so that clients keep working after a restart. With `:memory:` each run has a
 * new token. Throws ConfigError.
 */
export async function openLocalToken(stateDir: string): Promise<LocalToken> {
  if (stateDir === ':memory:') return { token: newToken(), file: undefined }
  const file = join(stateDir, 'local-token')
  try {
    const pattern = new RegExp(`^${localTokenPrefix}[\\w-]{43}$`)
    const token = readOrMakeSecret({ file, name: 'local token', make: newToken, pattern })
    return { token, file }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(
      `The local token cannot be kept in ${file}: ${messageOf(error)}. Name another folder with ${stateDirLabel}, or do without it with --local-token off.`,
    )
  }
}

const newToken = () => localTokenPrefix + randomBytes(32).toString('base64url')

/** A secret that is generated once and stored in a file, with owner-only permissions. */
interface KeptSecret {
  readonly file: string
  /** Name in messages: `local token`. */
  readonly name: string
  readonly make: () => string
  readonly pattern: RegExp
}

export const stateDirLabel = settingLabel(stateSettings, 'state-dir')

/** Reads the secret, or creates it. Throws ConfigError, and errors of the file system. */
function readOrMakeSecret(secret: KeptSecret): string {
  if (!existsSync(secret.file)) create(secret)
  return read(secret)
}

/**
 * Writes a new secret to a temporary file, then links the file to its final path. No process reads
 * a partial secret, and two processes that start at the same time use the same secret.
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
    // Another process may have created the file.
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

/**
 * Throws ConfigError if other users can read the file. Not checked on Windows, where permissions
 * come from the folder.
 */
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
