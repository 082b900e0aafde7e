import { holdsLocalToken, isApiKey } from '../session/credential.ts'
import { ConfigError } from './config-error.ts'
import { isLoopback } from './loopback.ts'
import { type SandboxConfig, sandboxConfig } from './sandbox.ts'
import { count, type SettingTexts, seconds, settingReader, text } from './setting.ts'
import type { Environment } from './setting-texts.ts'

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
      proxy: HttpsProxy | undefined
      /** Requests to the platform at the same time: in all, with one key, for one client network. */
      atOnce: { inAll: number; perKey: number; perNetwork: number }
    }
  | ({ kind: 'sandbox' } & SandboxConfig)

export const platformSettings = {
  'base-url': text({
    variable: 'VOICE_AGENT_BASE_URL',
    value: 'URL',
    help: 'Address of the platform: https, or http on this machine. Without it and a key: the sandbox.',
  }),
  'api-key': text({
    variable: 'VOICE_AGENT_API_KEY',
    value: 'KEY',
    help: 'API key of the platform. Better as a variable: others can see flags.',
    isSecret: true,
  }),
  'headers-timeout': seconds({
    variable: 'VOICE_AGENT_HEADERS_TIMEOUT',
    help: 'Longest wait for the platform to start answering.',
    default: 10,
  }),
  timeout: seconds({
    variable: 'VOICE_AGENT_TIMEOUT',
    help: 'Longest wait for the whole answer of the platform; placing a call takes at most 54 in all.',
    default: 30,
  }),
  'max-upstream': count({
    variable: 'VOICE_AGENT_MAX_UPSTREAM',
    help: 'Most requests to the platform at once, and so connections to it, in all; further ones wait.',
    least: 1,
    default: 128,
  }),
  'max-upstream-per-key': count({
    variable: 'VOICE_AGENT_MAX_UPSTREAM_PER_KEY',
    help: 'Most requests to the platform at once with one API key.',
    least: 1,
    default: 64,
  }),
}

/** Settings of the platform that only a server for many clients has. */
export const sharedPlatformSettings = {
  'max-upstream-per-address': count({
    variable: 'VOICE_AGENT_MAX_UPSTREAM_PER_ADDRESS',
    help: 'Most requests to the platform at once with keys of their own from one client address.',
    least: 0,
    default: 96,
  }),
}

/** `needsKey`: the server's own key is needed, because requests cannot bring one. */
export function platformConfig(
  texts: SettingTexts,
  env: Environment,
  { needsKey }: { needsKey: boolean },
): PlatformConfig {
  const value = settingReader(platformSettings, texts)
  const baseUrl = value('base-url')
  const apiKey = value('api-key')
  if (baseUrl === undefined && apiKey === undefined) {
    return { kind: 'sandbox', ...sandboxConfig(texts) }
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
    kind: 'network',
    baseUrl: url,
    apiKey,
    headersTimeoutMs: value('headers-timeout'),
    totalTimeoutMs: value('timeout'),
    proxy: proxyFor(url, env),
    atOnce: {
      inAll: value('max-upstream'),
      perKey: value('max-upstream-per-key'),
      perNetwork: settingReader(sharedPlatformSettings, texts)('max-upstream-per-address'),
    },
  }
}

/** The messages do not repeat the key. */
function checkApiKey(apiKey: string): void {
  if (isQuoted(apiKey)) {
    throw new ConfigError(
      'VOICE_AGENT_API_KEY is in quotation marks, which no shell has removed. Set it without them.',
    )
  }
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

/** Proxy for https, and the hosts that are reached without it. */
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

/** As Windows and files of variables keep quotation marks that a shell would remove. */
const isQuoted = (text: string) => /^(["']).*\1$/.test(text)

/** The platform's address: https, or http on this machine only, because the key is sent there. */
function platformUrl(given: string): URL {
  if (isQuoted(given)) {
    throw new ConfigError(
      'VOICE_AGENT_BASE_URL is in quotation marks, which no shell has removed. Set it without them.',
    )
  }
  const url = URL.parse(given)
  if (!url || !['https:', 'http:'].includes(url.protocol)) {
    // Not repeated: it may be a key that was put into the wrong variable.
    throw new ConfigError(
      'VOICE_AGENT_BASE_URL is not a web address. A web address starts with https://.',
    )
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
      `VOICE_AGENT_BASE_URL must be https: with plain http to ${url.hostname}, others on the network could read the API key.`,
    )
  }
  // Every path of the API begins with /v1, so an address that ends with it means the same.
  url.pathname = url.pathname
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/\/v1$/, '')
  return url
}
