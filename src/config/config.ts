import { isAbsolute, join } from 'node:path'
import envPaths from 'env-paths'
import { type ConfirmMode, confirmModes } from '../mcp/call/confirm-mode.ts'
import type { ExposureWish } from '../mcp/protocol/exposure.ts'
import { holdsLocalToken, isApiKey } from '../session/credential.ts'
import type { HttpLimits } from '../transports/http-limits.ts'
import { ConfigError, type Environment, readFlags, readValues, type Values } from './flags.ts'
import { type Command, type SettingName, shownName } from './settings.ts'

/** Where the API is: the real platform, or the built-in sandbox. */
export type PlatformConfig =
  | {
      kind: 'network'
      baseUrl: URL
      /** The operator's key; over HTTP each request may bring its own. */
      apiKey: string | undefined
      headersTimeoutMs: number
      totalTimeoutMs: number
      /** Proxy for https, and the hosts that are reached without it. */
      proxy: { url: string; except: string } | undefined
      /** Requests to it under way at once: in all, with one key, and for one client network. */
      atOnce: { inAll: number; perKey: number; perNetwork: number }
    }
  | ({ kind: 'sandbox' } & SandboxConfig)

/** How the sandbox runs. */
export interface SandboxConfig {
  /** SQLite file; `:memory:` keeps nothing. */
  file: string
  speed: number
  /** The language model that speaks in simulated calls. */
  llm: { url: string; model: string; apiKey: string | undefined } | undefined
}

/** How much of the platform assistants get. */
export interface ScopeConfig {
  /** The one account that all tools act on; `undefined`: the one a caller names, or the key's. */
  account: string | undefined
  /** What is exposed of the tools; names are checked by whoever knows the tools. */
  exposure: ExposureWish
  /** How long catalogs are handed out before they are read anew. */
  catalogMs: number
  /** Resources that are watched at once, in all and with one key. */
  watched: { inAll: number; perKey: number }
}

/** How calls are placed. */
export interface CallingConfig {
  /** Who is asked before calls, deletes, archiving and deactivating. */
  confirm: ConfirmMode
  /** The dial policy, as JSON text, and where it is, for messages; `undefined`: none is set. */
  policy: { file: string } | { text: string; source: string } | undefined
  /** Folder of what has to be remembered; `:memory:` keeps nothing. */
  stateDir: string
  /** How long the platform is asked what became of a call, and when one was surely never taken. */
  timing: { findOutMs: number; settledMs: number }
}

/** An address to listen on. */
export interface ListenConfig {
  host: string
  /** 0 picks a free one. */
  port: number
}

export type Config =
  | { command: 'help'; about: Command | undefined }
  | { command: 'version' }
  | { command: 'stdio'; platform: PlatformConfig; scope: ScopeConfig; calling: CallingConfig }
  | {
      command: 'http'
      platform: PlatformConfig
      scope: ScopeConfig
      calling: CallingConfig
      listen: ListenConfig
      allowedHosts: string[]
      allowedOrigins: string[]
      /** Whether requests that use the server's own key must bring its local token. */
      wantsLocalToken: boolean
      limits: HttpLimits
    }
  | {
      command: 'sandbox'
      listen: ListenConfig
      allowedHosts: string[]
      sandbox: SandboxConfig
      faultsFile: string | undefined
    }

/** Parses command line and environment, once. A flag wins over its variable. Throws ConfigError. */
export function readConfig(argv: readonly string[], env: Environment): Config {
  const { command, flags, wantsHelp, wantsVersion } = readFlags(argv)
  if (wantsVersion) return { command: 'version' }
  if (wantsHelp) return { command: 'help', about: command }
  const values = readValues(command ?? 'stdio', flags, env)
  if (command !== 'sandbox') refuseBlankPolicy(flags['dial-policy'] ?? env.VOICE_AGENT_DIAL_POLICY)
  switch (command) {
    case undefined:
    case 'stdio':
      return {
        command: 'stdio',
        platform: platformOf(values, env, { needsKey: true }),
        scope: scopeOf(values),
        calling: callingOf(values),
      }
    case 'http':
      return {
        command,
        platform: platformOf(values, env, { needsKey: false }),
        scope: scopeOf(values),
        calling: callingOf(values),
        listen: listenOf(values, 3000),
        allowedHosts: listOf(values['allowed-hosts']),
        allowedOrigins: listOf(values['allowed-origins']),
        wantsLocalToken: isOn(values, 'local-token'),
        limits: limitsOf(values),
      }
    case 'sandbox':
      return {
        command,
        listen: listenOf(values, 8080),
        allowedHosts: listOf(values['allowed-hosts']),
        sandbox: sandboxOf(values),
        faultsFile: values.faults,
      }
  }
}

function platformOf(
  values: Values,
  env: Environment,
  { needsKey }: { needsKey: boolean },
): PlatformConfig {
  const { 'base-url': baseUrl, 'api-key': apiKey } = values
  if (baseUrl === undefined && apiKey === undefined)
    return { kind: 'sandbox', ...sandboxOf(values) }
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
  if (apiKey !== undefined && !isApiKey(apiKey)) {
    throw new ConfigError(
      'VOICE_AGENT_API_KEY holds characters that no API key has. Copy it again, without spaces or line breaks.',
    )
  }
  if (apiKey !== undefined && holdsLocalToken(apiKey)) {
    throw new ConfigError(
      'VOICE_AGENT_API_KEY holds a local token of this program, which is no key of the platform. Set it to your API key.',
    )
  }
  const url = platformUrl(baseUrl)
  return {
    kind: 'network',
    baseUrl: url,
    apiKey,
    headersTimeoutMs: milliseconds(values, 'headers-timeout', 10_000),
    totalTimeoutMs: milliseconds(values, 'timeout', 30_000),
    proxy: proxyOf(url, env),
    atOnce: {
      inAll: count(values, 'max-upstream', 128, 1),
      perKey: count(values, 'max-upstream-per-key', 64, 1),
      perNetwork: count(values, 'max-upstream-per-address', 96, 0),
    },
  }
}

/** The proxy of the environment, in either spelling; this machine is never reached through one. */
function proxyOf({ protocol, hostname }: URL, env: Environment) {
  const url = env.HTTPS_PROXY || env.https_proxy
  if (!url || protocol !== 'https:' || isLoopback(hostname)) return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new ConfigError('HTTPS_PROXY is no web address. It starts with http://.')
  }
  return { url, except: env.NO_PROXY || env.no_proxy || '' }
}

/** The platform's address: https, or http on this machine only, because the key goes there. */
function platformUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !['https:', 'http:'].includes(url.protocol)) {
    // Not shown: it may be a key that was put into the wrong variable.
    throw new ConfigError('VOICE_AGENT_BASE_URL is no web address. It starts with https://.')
  }
  if (url.username || url.password) {
    throw new ConfigError(
      'VOICE_AGENT_BASE_URL must not hold a user name or password. The key goes into VOICE_AGENT_API_KEY.',
    )
  }
  if (url.search || url.hash) {
    throw new ConfigError('VOICE_AGENT_BASE_URL must end with the path: no ? and no #.')
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ConfigError(
      `VOICE_AGENT_BASE_URL must be https: over plain http to ${url.hostname} anybody on the way could read the API key.`,
    )
  }
  // The version is in every path (/v1/…), so an address that already ends with it means the same.
  url.pathname = url.pathname
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/\/v1$/, '')
  return url
}

/** True for the names and addresses of this very machine. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
  )
}

function scopeOf(values: Values): ScopeConfig {
  const { account, toolsets, tools, 'exclude-tools': excludeTools, 'read-only': readOnly } = values
  // It becomes a part of paths, where these would lead elsewhere.
  if (account !== undefined && (/[^!-~]|[/,]/.test(account) || /^\.{1,2}$/.test(account))) {
    // Not shown: it may be something that was put into the wrong variable.
    throw new ConfigError(`${shownName('account')} takes the id of one account.`)
  }
  return {
    account,
    exposure: { toolsets, tools, excludeTools, readOnly },
    catalogMs: milliseconds(values, 'catalog-ttl', 300_000),
    watched: {
      inAll: count(values, 'max-watched', 2500, 1),
      perKey: count(values, 'max-watched-per-key', 250, 1),
    },
  }
}

/**
 * Other settings that are blank are not set. A policy that is blank is one that did not arrive, by a
 * variable that held nothing, and without it calls would go where nobody meant to allow them.
 */
function refuseBlankPolicy(text: string | undefined): void {
  if (text === undefined || text.trim() !== '') return
  throw new ConfigError(
    `${shownName('dial-policy')} is empty: the policy it should hold did not arrive. Give the policy, or {} for one that restricts nothing, or do not set it at all.`,
  )
}

function callingOf(values: Values): CallingConfig {
  const { confirm = 'auto', 'dial-policy': policy } = values
  const mode = confirmModes.find((one) => one === confirm)
  if (!mode) {
    throw new ConfigError(
      `${shownName('confirm')} takes ${confirmModes.join(', ')}, not ${confirm}.`,
    )
  }
  return {
    confirm: mode,
    policy: policy?.trimStart().startsWith('{')
      ? { text: policy, source: shownName('dial-policy') }
      : policy === undefined
        ? undefined
        : { file: policy },
    stateDir: values['state-dir'] ?? stateDirOf(values),
    timing: {
      findOutMs: milliseconds(values, 'call-find-out', 20_000),
      settledMs: milliseconds(values, 'call-settle', 120_000),
    },
  }
}

/** The user's own folder; where the sandbox keeps nothing, its calls need not be remembered. */
const stateDirOf = (values: Values) =>
  values['sandbox-db'] === ':memory:' && values['base-url'] === undefined ? ':memory:' : dataDir()

/** The user's own folder for data. Without a home it would be a folder in the current one. */
function dataDir(): string {
  const { data } = envPaths('voice-agent-mcp', { suffix: '' })
  if (isAbsolute(data)) return data
  throw new ConfigError(
    `There is no folder to keep data in: HOME is empty, or the path in HOME or XDG_DATA_HOME is relative. Set it to an absolute path, or name a folder with ${shownName('state-dir')} and a file with ${shownName('sandbox-db')}.`,
  )
}

function sandboxOf(values: Values): SandboxConfig {
  return {
    file: values['sandbox-db'] ?? join(dataDir(), 'sandbox.db'),
    speed: number(values, 'sandbox-speed', 10, { least: 0.1, most: 10_000 }),
    llm: llmOf(values),
  }
}

function llmOf(values: Values): SandboxConfig['llm'] {
  const { 'sandbox-llm-url': url, 'sandbox-llm-model': model, 'sandbox-llm-key': apiKey } = values
  if (url === undefined) {
    if (model === undefined && apiKey === undefined) return undefined
    throw new ConfigError(
      'VOICE_AGENT_SANDBOX_LLM_MODEL or _KEY is set, but VOICE_AGENT_SANDBOX_LLM_URL is not.',
    )
  }
  if (!['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')) {
    throw new ConfigError(`VOICE_AGENT_SANDBOX_LLM_URL is no web address: ${url}.`)
  }
  if (model === undefined) {
    throw new ConfigError('VOICE_AGENT_SANDBOX_LLM_MODEL is not set: name the model to ask for.')
  }
  return { url, model, apiKey }
}

function listenOf(values: Values, defaultPort: number): ListenConfig {
  const port = number(values, 'port', defaultPort, { least: 0, most: 65_535, whole: true })
  return { host: values.host ?? '127.0.0.1', port }
}

/** How many there may be of something; where 0 is allowed, it means no limit. */
const count = (values: Values, name: SettingName, otherwise: number, least: 0 | 1) =>
  number(values, name, otherwise, { least, most: 1_000_000, whole: true })

function limitsOf(values: Values): HttpLimits {
  return {
    requests: {
      inAll: count(values, 'max-requests', 1000, 1),
      perKey: count(values, 'max-requests-per-key', 500, 0),
      perAddress: count(values, 'max-requests-per-address', 500, 0),
    },
    streams: {
      inAll: count(values, 'max-streams', 2000, 1),
      perKey: count(values, 'max-streams-per-key', 200, 0),
      perAddress: count(values, 'max-streams-per-address', 500, 0),
    },
    watchedPerAddress: count(values, 'max-watched-per-address', 1000, 0),
    clientMs: milliseconds(values, 'client-timeout', 30_000),
  }
}

const listOf = (text: string | undefined) =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

/** A setting that is on unless it is switched off. */
function isOn(values: Values, name: SettingName): boolean {
  const text = values[name] ?? 'on'
  if (text === 'on' || text === 'off') return text === 'on'
  // Not shown: it may be a secret.
  throw new ConfigError(`${shownName(name)} takes on or off.`)
}

/** A setting in seconds, as milliseconds. */
const milliseconds = (values: Values, name: SettingName, otherwise: number) =>
  1000 * number(values, name, otherwise / 1000, { least: 0.001, most: 3600 })

function number(
  values: Values,
  name: SettingName,
  otherwise: number,
  { least, most, whole = false }: { least: number; most: number; whole?: boolean },
): number {
  const text = values[name]
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isNaN(value) || value < least || value > most || (whole && !Number.isInteger(value))) {
    const kind = whole ? 'a whole number' : 'a number'
    throw new ConfigError(`${shownName(name)} takes ${kind} from ${least} to ${most}, not ${text}.`)
  }
  return value
}
