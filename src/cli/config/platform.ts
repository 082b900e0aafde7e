import { join } from 'node:path'
import { holdsLocalToken, isApiKey } from '../../platform/sessions/credential.ts'
import { userFolder } from '../../state/private-files.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import {
  choice,
  count,
  limit,
  number,
  type SettingTexts,
  seconds,
  settingReader,
  text,
  withVariables,
} from './setting.ts'

/** The remote platform, or the built-in sandbox. */
export type PlatformConfig = ReturnType<typeof platformConfig>

export const platformSettings = withVariables({
  'base-url': text({
    value: 'URL',
    help: 'Address of the platform: https, or http on this machine. With neither address nor key: the sandbox.',
  }),
  'api-key': text({
    value: 'KEY',
    help: 'API key of the platform. Prefer the variable: others can see flags.',
    isSecret: true,
  }),
  'headers-timeout': seconds({
    help: 'Time limit for the platform to begin an answer.',
    default: 10,
  }),
  timeout: seconds({
    help: 'Time limit for the whole answer of the platform; placing a call takes at most 54 in all.',
    default: 30,
  }),
  'max-upstream': count({
    help: 'Most concurrent requests to the platform, and so connections, in all; further requests wait.',
    default: 128,
  }),
  'max-upstream-per-key': count({
    help: 'Most concurrent requests to the platform with one API key.',
    default: 64,
  }),
})

/** Platform settings of a server for many clients. */
export const sharedPlatformSettings = withVariables({
  'max-upstream-per-address': limit({
    help: 'Most concurrent requests to the platform for one client address, with keys that clients send.',
    default: 96,
  }),
})

/** `needsKey`: the server needs its own key, because requests cannot have one. */
export function platformConfig(
  texts: SettingTexts,
  env: Environment,
  { needsKey }: { needsKey: boolean },
) {
  const value = settingReader(platformSettings, texts)
  const baseUrl = value('base-url')
  const apiKey = value('api-key')
  if (baseUrl === undefined && apiKey === undefined) {
    return { kind: 'sandbox' as const, ...sandboxConfig(texts) }
  }
  if (baseUrl === undefined) {
    throw new ConfigError(
      'VOICE_AGENT_API_KEY is set, but VOICE_AGENT_BASE_URL is not. Set it to the address of the platform, or set neither to use the sandbox.',
    )
  }
  if (apiKey === undefined && needsKey) {
    throw new ConfigError(
      'VOICE_AGENT_BASE_URL is set, but VOICE_AGENT_API_KEY is not. Set it to your API key, or set neither to use the sandbox.',
    )
  }
  if (apiKey !== undefined) checkApiKey(apiKey)
  const url = platformUrl(baseUrl)
  return {
    kind: 'network' as const,
    baseUrl: url,
    /** The operator's key. Over HTTP each request may have a key of its own. */
    apiKey,
    headersTimeoutMs: value('headers-timeout'),
    totalTimeoutMs: value('timeout'),
    /** HTTPS proxy, and the hosts that bypass it. */
    proxy: proxyFor(url, env),
    /** Concurrent requests to the platform: in total, per key, per client network. */
    concurrency: {
      inAll: value('max-upstream'),
      perKey: value('max-upstream-per-key'),
      perNetwork: settingReader(sharedPlatformSettings, texts)('max-upstream-per-address'),
    },
  }
}

/** The messages do not repeat the key. */
function checkApiKey(apiKey: string): void {
  refuseQuotes(apiKey, 'VOICE_AGENT_API_KEY')
  if (!isApiKey(apiKey)) {
    throw new ConfigError(
      'VOICE_AGENT_API_KEY holds characters that no API key has. Copy it again, without spaces or line breaks.',
    )
  }
  if (holdsLocalToken(apiKey)) {
    throw new ConfigError(
      'VOICE_AGENT_API_KEY holds a local token of this program, which is not a key of the platform. Set it to your API key.',
    )
  }
}

/** HTTPS proxy, and the hosts that bypass it. */
export interface HttpsProxy {
  readonly url: string
  readonly except: string
}

/** This machine is never reached through a proxy. */
const proxyFor = ({ protocol, hostname }: URL, env: Environment): HttpsProxy | undefined =>
  protocol === 'https:' && !isLoopback(hostname) ? httpsProxy(env) : undefined

/** The proxy of the environment, in either spelling. Throws ConfigError. */
export function httpsProxy(env: Environment): HttpsProxy | undefined {
  const url = env.HTTPS_PROXY || env.https_proxy
  if (!url) return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new ConfigError('HTTPS_PROXY is not a web address. A web address starts with http://.')
  }
  return { url, except: env.NO_PROXY || env.no_proxy || '' }
}

/** Windows and files of variables keep quotation marks that a shell would remove. */
function refuseQuotes(text: string, label: string): void {
  if (!/^(["']).*\1$/.test(text)) return
  throw new ConfigError(`${label} is in quotation marks. Set it without them.`)
}

/** Parses a web URL. Messages do not repeat the given text, because it may be a misplaced key. */
export function webAddress(given: string, label: string): URL {
  const url = URL.parse(given)
  if (url && ['https:', 'http:'].includes(url.protocol)) return url
  throw new ConfigError(`${label} is not a web address. A web address starts with https://.`)
}

/** Requires https for a URL that receives secrets, or http on loopback. Throws ConfigError. */
export function requireHttps({ protocol, hostname }: URL, label: string, secrets: string): void {
  if (protocol === 'https:' || isLoopback(hostname)) return
  throw new ConfigError(
    `${label} must be https. With plain http to ${hostname}, others on the network could read ${secrets}.`,
  )
}

/** True for names and addresses that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** The platform's address: https, or http on this machine only, because the key is sent there. */
function platformUrl(given: string): URL {
  refuseQuotes(given, 'VOICE_AGENT_BASE_URL')
  const url = webAddress(given, 'VOICE_AGENT_BASE_URL')
  if (url.username || url.password) {
    throw new ConfigError(
      'VOICE_AGENT_BASE_URL must not hold a user name or password. The key goes into VOICE_AGENT_API_KEY.',
    )
  }
  if (url.search || url.hash) {
    throw new ConfigError('VOICE_AGENT_BASE_URL must end with the path: no ? and no #.')
  }
  requireHttps(url, 'VOICE_AGENT_BASE_URL', 'the API key')
  // Every path of the API begins with /v1, so it is stripped from the base URL.
  url.pathname = url.pathname
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/\/v1$/, '')
  return url
}

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
    /** Contents of a new file: fixed data only, or a sample business as well. */
    seed: value('sandbox-seed'),
    /** Time that a web call waits for a person to join in a browser, ms. */
    webWaitMs: 1000 * value('sandbox-web-wait'),
    llm: llmConfig(texts),
  }
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
  if (!['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')) {
    throw new ConfigError(`VOICE_AGENT_SANDBOX_LLM_URL is not a web address: ${url}.`)
  }
  if (model === undefined) {
    throw new ConfigError('VOICE_AGENT_SANDBOX_LLM_MODEL is not set: name the model to ask for.')
  }
  return { url, model, apiKey }
}

/** The user's own folder for data. Throws ConfigError. */
export function dataFolder(): string {
  const data = userFolder('data')
  if (data !== undefined) return data
  throw new ConfigError(
    'There is no folder to keep data in: HOME is not set, or the path in HOME or XDG_DATA_HOME is relative. Set it to an absolute path, or name a folder with --state-dir (VOICE_AGENT_STATE_DIR) and a file with --sandbox-db (VOICE_AGENT_SANDBOX_DB).',
  )
}
