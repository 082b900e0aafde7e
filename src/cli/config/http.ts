import * as z from 'zod/mini'
import type { AddressRange } from '../../server/transports/http-admission.ts'
import type { HttpLimits } from '../../server/transports/http-limits.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import {
  type HttpsProxy,
  httpsProxy,
  isLoopback,
  requireHttps,
  sharedPlatformSettings,
  webAddress,
} from './platform.ts'
import {
  count,
  flag,
  list,
  number,
  onOff,
  type Setting,
  type SettingTexts,
  seconds,
  settingLabel,
  settingReader,
  text,
} from './setting.ts'

/** Listening address and host names of a server. */
export interface ListenConfig {
  listen: {
    host: string
    /** 0 picks a free one. */
    port: number
  }
  /** Allowed host names besides localhost, or `*`. Empty: any name, except on loopback. */
  allowedHosts: readonly string[]
}

const loopback = '127.0.0.1'

export const listenSettings = {
  host: text({
    variable: 'VOICE_AGENT_HOST',
    value: 'HOST',
    help: 'Address to listen on.',
    range: `Default ${loopback}.`,
    json: { type: 'string', default: loopback },
  }),
  port: number({
    variable: 'VOICE_AGENT_PORT',
    value: 'PORT',
    help: 'Port to listen on; 0 picks a free one.',
    min: 0,
    max: 65_535,
    isWhole: true,
    default: undefined,
    range: '0 to 65535; default 3000 (http), 8080 (sandbox).',
  }),
  'allowed-hosts': list({
    variable: 'VOICE_AGENT_ALLOWED_HOSTS',
    help: 'Host names that clients may use, besides localhost; * for any. Not set: only localhost on a loopback --host; on another any name, and the sandbox does not start.',
  }),
}

export function listenConfig(texts: SettingTexts, defaultPort: number): ListenConfig {
  const value = settingReader(listenSettings, texts)
  return {
    listen: { host: value('host') ?? loopback, port: value('port') ?? defaultPort },
    allowedHosts: value('allowed-hosts'),
  }
}

/**
 * A server that other machines reach and that serves requests without a key must name its hosts,
 * which stops DNS rebinding. Throws ConfigError.
 */
export function requireHosts({ listen, allowedHosts }: ListenConfig): void {
  if (isLoopback(listen.host) || allowedHosts.length > 0) return
  throw new ConfigError(
    `On ${listen.host} the sandbox would answer everybody, under any host name. Name the hosts it is reached by with ${settingLabel(listenSettings, 'allowed-hosts')}, or allow any with '*'.`,
  )
}

type Spec = Pick<Setting, 'variable' | 'help'>

/** Addresses and networks, separated by commas: `10.0.0.0/8, ::1`. */
const addressRanges = (spec: Spec): Setting<readonly AddressRange[]> => {
  const texts = list(spec)
  return {
    ...texts,
    value: 'ADDRESSES',
    range: 'Addresses and networks such as 10.0.0.0/8, separated by commas.',
    parse: (given, label) => texts.parse(given, label).map((text) => addressRange(text, label)),
  }
}

// Not node:net, which a start over stdio does not load.
const Ipv4Range = z.union([z.ipv4(), z.cidrv4()])
const Ipv6Range = z.union([z.ipv6(), z.cidrv6()])

function addressRange(text: string, label: string): AddressRange {
  const isIpv4 = Ipv4Range.safeParse(text).success
  if (!isIpv4 && !Ipv6Range.safeParse(text).success) {
    throw new ConfigError(
      `${label} takes addresses such as 10.0.0.5 and networks such as 10.0.0.0/8 or fd00::/8, not ${text}.`,
    )
  }
  const [address = '', prefix = isIpv4 ? 32 : 128] = text.split('/')
  return { address, family: isIpv4 ? 'ipv4' : 'ipv6', prefix: Number(prefix) }
}

/** Access and limits of the HTTP server. */
export interface HttpConfig {
  /** Allowed Origin host names. */
  allowedOrigins: readonly string[]
  /** Proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly AddressRange[]
  /** If true, requests that use the server's own key need its local token. */
  wantsLocalToken: boolean
  limits: HttpLimits
  /** Longest time for open requests during shutdown, ms. */
  drainMs: number
}

export const httpSettings = {
  'allowed-origins': list({
    variable: 'VOICE_AGENT_ALLOWED_ORIGINS',
    help: "Host names of web pages that may connect. Pages on localhost need this only to use the server's own key.",
  }),
  'trusted-proxies': addressRanges({
    variable: 'VOICE_AGENT_TRUSTED_PROXIES',
    help: 'Proxies in front of this server, whose X-Forwarded-For gives the client address for the limits by address.',
  }),
  'local-token': onOff({
    variable: 'VOICE_AGENT_LOCAL_TOKEN',
    help: "on: requests that use the server's own key must bring its local token; off: they need no token.",
    default: 'on',
  }),
  'max-requests': count({
    variable: 'VOICE_AGENT_MAX_REQUESTS',
    help: 'Most requests that are served at once, in all. Further ones are answered with 503.',
    min: 1,
    default: 1000,
  }),
  'max-requests-per-key': count({
    variable: 'VOICE_AGENT_MAX_REQUESTS_PER_KEY',
    help: 'Most requests that are served at once for one API key. Further ones are answered with 429.',
    min: 0,
    default: 500,
  }),
  'max-requests-per-address': count({
    variable: 'VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS',
    help: 'Most requests that are served at once for one client address. Behind a proxy, name it with --trusted-proxies, or set 0: all clients have its address.',
    min: 0,
    default: 500,
  }),
  'max-rate': count({
    variable: 'VOICE_AGENT_MAX_RATE',
    help: 'Most requests a minute, on average, in all; as many may come at once. Further ones are answered with 503.',
    min: 0,
    default: 0,
  }),
  'max-rate-per-key': count({
    variable: 'VOICE_AGENT_MAX_RATE_PER_KEY',
    help: 'Most requests a minute, on average, for one API key; as many may come at once. Further ones are answered with 429.',
    min: 0,
    default: 0,
  }),
  'max-rate-per-address': count({
    variable: 'VOICE_AGENT_MAX_RATE_PER_ADDRESS',
    help: 'The same for one client address (see --trusted-proxies).',
    min: 0,
    default: 0,
  }),
  'max-waits': count({
    variable: 'VOICE_AGENT_MAX_WAITS',
    help: 'Most waits for calls at once (wait_for_call, and placing with follow), in all. Each is a request, too.',
    min: 0,
    default: 800,
  }),
  'max-waits-per-key': count({
    variable: 'VOICE_AGENT_MAX_WAITS_PER_KEY',
    help: 'Most waits for calls at once for one API key.',
    min: 0,
    default: 200,
  }),
  'max-waits-per-address': count({
    variable: 'VOICE_AGENT_MAX_WAITS_PER_ADDRESS',
    help: 'Most waits for calls at once for one client address.',
    min: 0,
    default: 400,
  }),
  'max-streams': count({
    variable: 'VOICE_AGENT_MAX_STREAMS',
    help: 'Most open streams (subscriptions/listen), in all.',
    min: 1,
    default: 2000,
  }),
  'max-streams-per-key': count({
    variable: 'VOICE_AGENT_MAX_STREAMS_PER_KEY',
    help: 'Most open streams for one API key.',
    min: 0,
    default: 200,
  }),
  'max-streams-per-address': count({
    variable: 'VOICE_AGENT_MAX_STREAMS_PER_ADDRESS',
    help: 'Most open streams for one client address.',
    min: 0,
    default: 500,
  }),
  'max-watched-per-address': count({
    variable: 'VOICE_AGENT_MAX_WATCHED_PER_ADDRESS',
    help: 'Most resources that are watched for subscriptions from one client address.',
    min: 0,
    default: 1000,
  }),
  ...sharedPlatformSettings,
  'client-timeout': seconds({
    variable: 'VOICE_AGENT_CLIENT_TIMEOUT',
    help: 'Longest time that a client may take to send a request, and to read more of its answer.',
    default: 30,
  }),
  drain: seconds({
    variable: 'VOICE_AGENT_DRAIN',
    help: 'Longest time for requests under way when the server stops; placing a call takes at most 54.',
    default: 60,
  }),
}

export function httpConfig(texts: SettingTexts): HttpConfig {
  const value = settingReader(httpSettings, texts)
  return {
    allowedOrigins: value('allowed-origins'),
    trustedProxies: value('trusted-proxies'),
    wantsLocalToken: value('local-token'),
    limits: {
      requests: {
        inAll: value('max-requests'),
        perKey: value('max-requests-per-key'),
        perAddress: value('max-requests-per-address'),
      },
      rate: {
        inAll: value('max-rate'),
        perKey: value('max-rate-per-key'),
        perAddress: value('max-rate-per-address'),
      },
      waits: {
        inAll: value('max-waits'),
        perKey: value('max-waits-per-key'),
        perAddress: value('max-waits-per-address'),
      },
      streams: {
        inAll: value('max-streams'),
        perKey: value('max-streams-per-key'),
        perAddress: value('max-streams-per-address'),
      },
      watchedPerAddress: value('max-watched-per-address'),
      clientMs: value('client-timeout'),
    },
    drainMs: value('drain'),
  }
}

/** The authorization server beside the MCP server. */
export interface OauthConfig {
  /** Public origin of this server. */
  readonly publicUrl: URL
  /** JSON file of the operator's clients. */
  readonly clientsFile: string | undefined
  /** Proxy for client metadata documents. */
  readonly proxy: HttpsProxy | undefined
}

export const oauthSettings = {
  oauth: flag({
    variable: 'VOICE_AGENT_OAUTH',
    help: 'Also act as an OAuth authorization server for hosted clients: users enter their API key on a page. Needs --public-url. The variable takes true or false.',
  }),
  'public-url': text({
    variable: 'VOICE_AGENT_PUBLIC_URL',
    value: 'URL',
    help: 'Address that clients and browsers use, with --oauth: https without a path, or http on this machine.',
  }),
  'oauth-clients': text({
    variable: 'VOICE_AGENT_OAUTH_CLIENTS',
    value: 'FILE',
    help: 'JSON file of preregistered OAuth clients, with --oauth (see docs/connectors.md).',
  }),
}

/** `undefined`: no authorization server. Throws ConfigError. */
export function oauthConfig(texts: SettingTexts, env: Environment): OauthConfig | undefined {
  const value = settingReader(oauthSettings, texts)
  const [url, clientsFile] = [value('public-url'), value('oauth-clients')]
  const label = (name: keyof typeof oauthSettings) => settingLabel(oauthSettings, name)
  if (!isOn(value('oauth'))) {
    const unused = (['public-url', 'oauth-clients'] as const).find((name) => value(name))
    if (unused) throw new ConfigError(`${label(unused)} needs ${label('oauth')}.`)
    return undefined
  }
  if (!url) {
    throw new ConfigError(
      `${label('oauth')} needs ${label('public-url')}: the address under which clients and browsers reach this server, such as https://voice.example.com.`,
    )
  }
  return { publicUrl: publicAddress(url, label('public-url')), clientsFile, proxy: httpsProxy(env) }
}

function isOn(given = ''): boolean {
  const word = given.trim().toLowerCase()
  if (['true', '1'].includes(word)) return true
  if (['', 'false', '0'].includes(word)) return false
  throw new ConfigError(`${settingLabel(oauthSettings, 'oauth')} takes true or false.`)
}

/**
 * Parses the public origin. Requires https, or http on loopback, because tokens and keys are sent
 * there. Throws ConfigError.
 */
function publicAddress(given: string, label: string): URL {
  const url = webAddress(given, label)
  if (url.username || url.password || url.pathname !== '/' || url.search || url.hash) {
    throw new ConfigError(
      `${label} takes only scheme, host and port: ${url.protocol}//${url.host}. All paths below it have to reach this server unchanged.`,
    )
  }
  requireHttps(url, label, 'keys and tokens')
  return url
}

/** Address of the metrics server; `undefined`: no metrics. */
export interface MetricsConfig {
  readonly metrics: { readonly host: string; readonly port: number } | undefined
}

export const metricsSettings = {
  'metrics-port': number({
    variable: 'VOICE_AGENT_METRICS_PORT',
    value: 'PORT',
    help: 'Port of GET /metrics, for Prometheus; 0 picks a free one.',
    min: 0,
    max: 65_535,
    isWhole: true,
    default: undefined,
    range: '0 to 65535; default: no metrics.',
  }),
  'metrics-host': text({
    variable: 'VOICE_AGENT_METRICS_HOST',
    value: 'HOST',
    help: 'Address to serve metrics on. They need no key: everybody who reaches it can read them.',
    range: `Default ${loopback}, whatever --host is.`,
    json: { type: 'string', default: loopback },
  }),
}

export function metricsConfig(texts: SettingTexts): MetricsConfig {
  const value = settingReader(metricsSettings, texts)
  const port = value('metrics-port')
  if (port === undefined) return { metrics: undefined }
  return { metrics: { host: value('metrics-host') ?? loopback, port } }
}
