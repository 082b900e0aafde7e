import { userFolder } from '../../state/private-files.ts'
import { ConfigError } from './config-error.ts'

/** The user's own folder for data. Throws ConfigError. */
export function dataFolder(): string {
  const data = userFolder('data')
  if (data !== undefined) return data
  throw new ConfigError(
    'There is no folder to keep data in: HOME is not set, or the path in HOME or XDG_DATA_HOME is relative. Set it to an absolute path, or name a folder with --state-dir (VOICE_AGENT_STATE_DIR) and a file with --sandbox-db (VOICE_AGENT_SANDBOX_DB).',
  )
}
