import { holdsLocalToken, isApiKey } from '../../platform/sessions/credential.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import { sandboxConfig } from './sandbox.ts'
import {
  count,
  limit,
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

/** Platform settings that only the HTTP server needs, because it serves many clients. */
export const sharedPlatformSettings = withVariables({
  'max-upstream-per-address': limit({
    help: 'Most concurrent requests to the platform for one client address, with keys that clients send.',
    default: 96,
  }),
})

/** `needsKey`: true if requests cannot carry an API key, so that the server needs its own. */
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
    /** The operator's API key. Over HTTP, each request may carry another. */
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

/** Throws ConfigError for a malformed API key. Messages do not repeat it. */
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

/** The proxy for a platform URL; `undefined` for http and for this machine. */
const proxyFor = ({ protocol, hostname }: URL, env: Environment): HttpsProxy | undefined =>
  protocol === 'https:' && !isLoopback(hostname) ? httpsProxy(env) : undefined

/** The proxy from `HTTPS_PROXY` or `https_proxy`. Throws ConfigError. */
export function httpsProxy(env: Environment): HttpsProxy | undefined {
  const url = env.HTTPS_PROXY || env.https_proxy
  if (!url) return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new ConfigError('HTTPS_PROXY is not a web address. A web address starts with http://.')
  }
  return { url, except: env.NO_PROXY || env.no_proxy || '' }
}

/**
 * Throws ConfigError for a text in quotation marks. Windows and env files keep quotation marks that
 * a shell would remove.
 */
function refuseQuotes(text: string, label: string): void {
  if (!/^(["']).*\1$/.test(text)) return
  throw new ConfigError(`${label} is in quotation marks. Set it without them.`)
}

/**
 * Parses a web URL. Throws ConfigError. Messages do not repeat the text, because it may be a
 * misplaced API key.
 */
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

/**
 * Parses the platform's URL. Requires https, or http on this machine, because requests contain the
 * API key.
 */
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
  // The base URL omits /v1, because every path of the API begins with it.
  url.pathname = url.pathname
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/\/v1$/, '')
  return url
}
