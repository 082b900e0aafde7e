import { join } from 'node:path'
import { ConfigError } from './config-error.ts'
import { dataFolder } from './data-folder.ts'
import { choice, number, type SettingTexts, settingReader, text } from './setting.ts'

/** How the sandbox runs. */
export interface SandboxConfig {
  /** SQLite file; `:memory:` keeps nothing. */
  file: string
  /** How many times faster than real time simulated calls run. */
  speed: number
  /** What a new file holds: fixed data only, or a business as well. */
  seed: 'small' | 'full'
  /** How long a web call waits for a person who joins in a browser, ms. */
  webWaitMs: number
  /** The language model that speaks in simulated calls. */
  llm: { url: string; model: string; apiKey: string | undefined } | undefined
}

export const sandboxSettings = {
  'sandbox-db': text({
    variable: 'VOICE_AGENT_SANDBOX_DB',
    value: 'FILE',
    help: 'Where the sandbox keeps its data; :memory: keeps nothing.',
    range: "Default: sandbox.db in your user's data folder.",
  }),
  'sandbox-seed': choice({
    variable: 'VOICE_AGENT_SANDBOX_SEED',
    help: 'full: a new sandbox also holds a hotel with calls in two languages; small: only data that never change.',
    choices: ['full', 'small'],
    default: 'full',
  }),
  'sandbox-speed': number({
    variable: 'VOICE_AGENT_SANDBOX_SPEED',
    value: 'FACTOR',
    help: 'How many times faster than real time simulated calls run.',
    least: 0.1,
    most: 10_000,
    default: 10,
    range: '0.1 to 10000; default 10.',
  }),
  'sandbox-web-wait': number({
    variable: 'VOICE_AGENT_SANDBOX_WEB_WAIT',
    value: 'SECONDS',
    help: 'How long a web call waits for a person in a browser, before a simulated caller joins.',
    least: 0,
    most: 3600,
    default: 60,
    range: '0 to 3600 seconds; default 60.',
  }),
  'sandbox-llm-url': text({
    variable: 'VOICE_AGENT_SANDBOX_LLM_URL',
    value: 'URL',
    help: 'OpenAI-compatible endpoint that speaks in simulated calls; without it they follow a script.',
  }),
  'sandbox-llm-model': text({
    variable: 'VOICE_AGENT_SANDBOX_LLM_MODEL',
    value: 'MODEL',
    help: 'Model to ask for at --sandbox-llm-url.',
  }),
  'sandbox-llm-key': text({
    variable: 'VOICE_AGENT_SANDBOX_LLM_KEY',
    value: 'KEY',
    help: 'API key for that endpoint, if it needs one. Better as a variable: others can see flags.',
    isSecret: true,
  }),
}

export function sandboxConfig(texts: SettingTexts): SandboxConfig {
  const value = settingReader(sandboxSettings, texts)
  return {
    file: value('sandbox-db') ?? join(dataFolder(), 'sandbox.db'),
    seed: value('sandbox-seed'),
    speed: value('sandbox-speed'),
    webWaitMs: 1000 * value('sandbox-web-wait'),
    llm: llmConfig({
      url: value('sandbox-llm-url'),
      model: value('sandbox-llm-model'),
      apiKey: value('sandbox-llm-key'),
    }),
  }
}

function llmConfig({
  url,
  model,
  apiKey,
}: Record<'url' | 'model' | 'apiKey', string | undefined>): SandboxConfig['llm'] {
  if (url === undefined) {
    if (model === undefined && apiKey === undefined) return undefined
    throw new ConfigError(
      'VOICE_AGENT_SANDBOX_LLM_MODEL or _KEY is set, but VOICE_AGENT_SANDBOX_LLM_URL is not.',
    )
  }
  if (!['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')) {
    throw new ConfigError(`VOICE_AGENT_SANDBOX_LLM_URL is not a web address: ${url}.`)
  }
  if (model === undefined) {
    throw new ConfigError('VOICE_AGENT_SANDBOX_LLM_MODEL is not set: name the model to ask for.')
  }
  return { url, model, apiKey }
}
