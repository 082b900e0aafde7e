import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { settingLabel } from '../config/setting.ts'
import { type StateConfig, secretsIn, stateSettings } from '../config/state.ts'
import { openOnce } from '../state/open-once.ts'
import { type SealingKeys, type Secrets, sealingKeysFrom } from '../state/sealing-keys.ts'
import { StateError } from '../state/state-error.ts'
import { readOrMakeSecret } from './secret-file.ts'

const fileLabel = settingLabel(stateSettings, 'secret-file')

/**
 * The sealing keys: from the operator's secrets, which are read now, else from a secret that is kept
 * in the state directory, and made with the first use. Throws ConfigError.
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
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`The file of ${fileLabel} cannot be read: ${reason}.`)
  }
  return secretsIn(text, '\n', `${file}, the file of ${fileLabel},`)
}

/** Where the secret is kept that is made where the operator gives none. */
export const keptSecretFile = (dir: string): string => join(dir, 'secret')

function keptSecret(dir: string): string {
  const file = keptSecretFile(dir)
  try {
    return readOrMakeSecret({ file, name: 'secret', make: newSecret, pattern: /^[\w-]{43}$/ })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StateError(
      `The secret that confirmations are signed with cannot be kept in ${file}: ${reason.replace(/\.$/, '')}. Let this program write there, or give a secret with ${settingLabel(stateSettings, 'secret')}.`,
      { cause: error },
    )
  }
}

const newSecret = () => randomBytes(32).toString('base64url')
