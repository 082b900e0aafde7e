import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { localTokenPrefix } from '../session/credential.ts'
import type { LocalToken } from '../transports/own-key.ts'
import { readOrMakeSecret, stateDirLabel } from './secret-file.ts'

/**
 * The local token of a state directory. It is made once and is the same for all servers that use the
 * directory, so clients keep working after a restart; `:memory:` has a new one each time. Throws
 * ConfigError.
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
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(
      `The local token cannot be kept in ${file}: ${reason}. Name another folder with ${stateDirLabel}, or do without it with --local-token off.`,
    )
  }
}

const newToken = () => localTokenPrefix + randomBytes(32).toString('base64url')
