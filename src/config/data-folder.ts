import { isAbsolute } from 'node:path'
import envPaths from 'env-paths'
import { ConfigError } from './config-error.ts'

/** The user's own folder for data. Throws ConfigError. */
export function dataFolder(): string {
  const { data } = envPaths('voice-agent-mcp', { suffix: '' })
  // Without a home it would be a folder in the current one.
  if (isAbsolute(data)) return data
  throw new ConfigError(
    'There is no folder to keep data in: HOME is empty, or the path in HOME or XDG_DATA_HOME is relative. Set it to an absolute path, or name a folder with --state-dir (VOICE_AGENT_STATE_DIR) and a file with --sandbox-db (VOICE_AGENT_SANDBOX_DB).',
  )
}
