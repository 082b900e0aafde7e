import { join } from 'node:path'
import { userFolder } from '../../state/private-files.ts'
import { ConfigError } from './config-error.ts'
import { choice, number, type SettingTexts, settingReader, text, withVariables } from './setting.ts'

export type SandboxConfig = ReturnType<typeof sandboxConfig>

export const sandboxSettings = withVariables({
  'sandbox-db': text({
    value: 'FILE',
    help: 'Where the sandbox keeps its data; :memory: keeps nothing.',
    range: "Default: sandbox.db in your user's data folder.",
  }),
  'sandbox-seed': choice({
    help: 'full: a new sandbox also holds a hotel with calls in two languages; small: only data that never changes.',
    choices: ['full', 'small'],
    default: 'full',
  }),
  'sandbox-speed': number({
    value: 'FACTOR',
    help: 'Speed of simulated calls; 1 is real time.',
    min: 0.1,
    max: 10_000,
    default: 10,
    range: '0.1 to 10000; default 10.',
  }),
  'sandbox-web-wait': number({
    value: 'SECONDS',
    help: 'How long a web call waits for a person in a browser, before a simulated caller joins.',
    min: 0,
    max: 3600,
    default: 60,
    range: '0 to 3600 seconds; default 60.',
  }),
  'sandbox-llm-url': text({
    value: 'URL',
    help: 'OpenAI-compatible endpoint that speaks in simulated calls; without it, calls follow a script.',
  }),
  'sandbox-llm-model': text({
    value: 'MODEL',
    help: 'Model at --sandbox-llm-url.',
  }),
  'sandbox-llm-key': text({
    value: 'KEY',
    help: 'API key for that endpoint, if it needs one. Prefer the variable: others can see flags.',
    isSecret: true,
  }),
})

export function sandboxConfig(texts: SettingTexts) {
  const value = settingReader(sandboxSettings, texts)
  return {
    /** SQLite file; `:memory:` keeps nothing. */
    file: value('sandbox-db') ?? join(dataFolder(), 'sandbox.db'),
    /** Speed of simulated calls, as a multiple of real time. */
    speed: value('sandbox-speed'),
    /** Data of a new file. `small`: fixed data only; `full`: also a sample hotel. */
    seed: value('sandbox-seed'),
    /** Time that a web call waits for a person to join in a browser, ms. */
    webWaitMs: 1000 * value('sandbox-web-wait'),
    llm: llmConfig(texts),
  }
}

/** The user's own folder for the data of the sandbox and for the state. Throws ConfigError. */
export function dataFolder(): string {
  const data = userFolder('data')
  if (data !== undefined) return data
  throw new ConfigError(
    'There is no folder to keep data in: HOME is not set, or the path in HOME or XDG_DATA_HOME is relative. Set it to an absolute path, or name a folder with --state-dir (VOICE_AGENT_STATE_DIR) and a file with --sandbox-db (VOICE_AGENT_SANDBOX_DB).',
  )
}

/** The language model that speaks in simulated calls. */
function llmConfig(texts: SettingTexts) {
  const value = settingReader(sandboxSettings, texts)
  const [url, model] = [value('sandbox-llm-url'), value('sandbox-llm-model')]
  const apiKey = value('sandbox-llm-key')
  if (url === undefined) {
    if (model === undefined && apiKey === undefined) return undefined
    throw new ConfigError(
      'VOICE_AGENT_SANDBOX_LLM_MODEL or _KEY is set, but VOICE_AGENT_SANDBOX_LLM_URL is not. Set it, or unset them.',
    )
  }
  // Messages do not repeat the address, which may hold a password.
  const address = URL.parse(url)
  if (!address || !['http:', 'https:'].includes(address.protocol)) {
    throw new ConfigError(
      'VOICE_AGENT_SANDBOX_LLM_URL is not a web address. A web address starts with http:// or https://.',
    )
  }
  if (address.username || address.password) {
    throw new ConfigError(
      'VOICE_AGENT_SANDBOX_LLM_URL must not hold a user name or password. The key goes into VOICE_AGENT_SANDBOX_LLM_KEY.',
    )
  }
  if (model === undefined) {
    throw new ConfigError('VOICE_AGENT_SANDBOX_LLM_MODEL is not set: name the model to ask for.')
  }
  return { url, model, apiKey }
}
