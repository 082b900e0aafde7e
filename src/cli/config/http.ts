import type { HttpLimits } from '../../server/transports/http-limits.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import {
  httpsProxy,
  isLoopback,
  requireHttps,
  sharedPlatformSettings,
  webAddress,
} from './platform.ts'
import {
  addressRanges,
  count,
  flag,
  limit,
  list,
  onOff,
  portNumber,
  type SettingTexts,
  seconds,
  settingLabel,
  settingReader,
  text,
  withVariables,
} from './setting.ts'

/** Listening address and host names of a server. */
export type ListenConfig = ReturnType<typeof listenConfig>

const loopback = '127.0.0.1'

export const listenSettings = withVariables({
  host: text({
    value: 'HOST',
    help: 'Address to listen on.',
    range: `Default ${loopback}.`,
    json: { type: 'string', default: loopback },
  }),
  port: portNumber({
    help: 'Port to listen on; 0 picks a free one.',
    range: '0 to 65535; default 3000 (http), 8080 (sandbox).',
  }),
  'allowed-hosts': list({
    help: 'Host names that clients may use, besides localhost; * for any. Not set: localhost only, on a loopback --host; on another --host any name, and the sandbox does not start.',
  }),
})

export function listenConfig(texts: SettingTexts, defaultPort: number) {
  const value = settingReader(listenSettings, texts)
  return {
    /** With port 0 the system picks a free one. */
    listen: { host: value('host') ?? loopback, port: value('port') ?? defaultPort },
    /** Allowed host names besides localhost; `*` allows all. Empty: all, except on loopback. */
    allowedHosts: value('allowed-hosts'),
  }
}

/**
 * Requires allowed host names if other machines reach the server and it serves requests without a
 * key. Checking the Host header stops DNS rebinding. Throws ConfigError.
 */
export function requireHosts({ listen, allowedHosts }: ListenConfig): void {
  if (isLoopback(listen.host) || allowedHosts.length > 0) return
  throw new ConfigError(
    `On ${listen.host} the sandbox would answer everybody, under any host name. Name the hosts it is reached by with ${settingLabel(listenSettings, 'allowed-hosts')}, or allow any with '*'.`,
  )
}

export const httpSettings = withVariables({
  'allowed-origins': list({
    help: "Host names of web pages that may connect. Pages on localhost need this only to use the server's own key.",
  }),
  'trusted-proxies': addressRanges({
    help: 'Proxies in front of this server. Limits by address use the client address in their X-Forwarded-For.',
  }),
  'local-token': onOff({
    help: "on: requests that use the server's own key must bring its local token; off: they need no token.",
    default: 'on',
  }),
  'max-requests': count({
    help: 'Most concurrent requests, in all. Further requests get 503.',
    default: 1000,
  }),
  'max-requests-per-key': limit({
    help: 'Most concurrent requests for one API key. Further requests get 429.',
    default: 500,
  }),
  'max-requests-per-address': limit({
    help: 'Most concurrent requests for one client address. Behind a proxy all clients have its address: name the proxy with --trusted-proxies, or set 0.',
    default: 500,
  }),
  'max-rate': limit({
    help: 'Most requests a minute, on average, in all; as many may come at once. Further requests get 503.',
    default: 0,
  }),
  'max-rate-per-key': limit({
    help: 'Most requests a minute, on average, for one API key; as many may come at once. Further requests get 429.',
    default: 0,
  }),
  'max-rate-per-address': limit({
    help: 'The same for one client address (see --trusted-proxies).',
    default: 0,
  }),
  'max-waits': limit({
    help: 'Most concurrent waits for calls (wait_for_call, and placing with follow), in all. A wait also counts as a request.',
    default: 800,
  }),
  'max-waits-per-key': limit({
    help: 'Most concurrent waits for calls for one API key.',
    default: 200,
  }),
  'max-waits-per-address': limit({
    help: 'Most concurrent waits for calls for one client address.',
    default: 400,
  }),
  'max-streams': count({
    help: 'Most open streams (subscriptions/listen), in all.',
    default: 2000,
  }),
  'max-streams-per-key': limit({
    help: 'Most open streams for one API key.',
    default: 200,
  }),
  'max-streams-per-address': limit({
    help: 'Most open streams for one client address.',
    default: 500,
  }),
  'max-watched-per-address': limit({
    help: 'Most resources watched for subscriptions from one client address.',
    default: 1000,
  }),
  ...sharedPlatformSettings,
  'client-timeout': seconds({
    help: 'Time limit for a client to send a request, and to read more of an answer.',
    default: 30,
  }),
  drain: seconds({
    help: 'Time limit for requests under way when the server stops; placing a call takes at most 54.',
    default: 60,
  }),
})

/** Access and limits of the HTTP server. */
export function httpConfig(texts: SettingTexts) {
  const value = settingReader(httpSettings, texts)
  const bounds = (what: 'requests' | 'rate' | 'waits' | 'streams') => ({
    inAll: value(`max-${what}`),
    perKey: value(`max-${what}-per-key`),
    perAddress: value(`max-${what}-per-address`),
  })
  return {
    /** Allowed Origin host names. */
    allowedOrigins: value('allowed-origins'),
    /** Proxies whose X-Forwarded-For is trusted. */
    trustedProxies: value('trusted-proxies'),
    /** If true, requests that use the server's own API key need its local token. */
    wantsLocalToken: value('local-token'),
    limits: {
      requests: bounds('requests'),
      rate: bounds('rate'),
      waits: bounds('waits'),
      streams: bounds('streams'),
      watchedPerAddress: value('max-watched-per-address'),
      clientMs: value('client-timeout'),
    } satisfies HttpLimits,
    /** Longest time that shutdown waits for open requests, ms. */
    drainMs: value('drain'),
  }
}

export const metricsSettings = withVariables({
  'metrics-port': portNumber({
    help: 'Port of GET /metrics, for Prometheus; 0 picks a free one.',
    range: '0 to 65535; default: no metrics.',
  }),
  'metrics-host': text({
    value: 'HOST',
    help: 'Address to serve metrics on. Metrics need no key: everybody who reaches the address can read them.',
    range: `Default ${loopback}, whatever --host is.`,
    json: { type: 'string', default: loopback },
  }),
})

/** Address of the metrics server; `undefined`: no metrics. */
export function metricsConfig(texts: SettingTexts): ListenConfig['listen'] | undefined {
  const value = settingReader(metricsSettings, texts)
  const port = value('metrics-port')
  return port === undefined ? undefined : { host: value('metrics-host') ?? loopback, port }
}

/** Configuration of the OAuth authorization server that runs beside the MCP server. */
export type OauthConfig = NonNullable<ReturnType<typeof oauthConfig>>

export const oauthSettings = withVariables({
  oauth: flag(
    'Also act as an OAuth authorization server for hosted clients: users enter their API key on a page. Needs --public-url. The variable takes true or false.',
  ),
  'public-url': text({
    value: 'URL',
    help: 'Address that clients and browsers use, with --oauth: https without a path, or http on this machine.',
  }),
  'oauth-clients': text({
    value: 'FILE',
    help: 'JSON file of preregistered OAuth clients, with --oauth (see docs/connectors.md).',
  }),
})

/** Settings of the authorization server; `undefined` without --oauth. Throws ConfigError. */
export function oauthConfig(texts: SettingTexts, env: Environment) {
  const value = settingReader(oauthSettings, texts)
  const [url, clientsFile] = [value('public-url'), value('oauth-clients')]
  const label = (name: keyof typeof oauthSettings) => settingLabel(oauthSettings, name)
  if (!value('oauth')) {
    const unused = (['public-url', 'oauth-clients'] as const).find((name) => value(name))
    if (unused) throw new ConfigError(`${label(unused)} needs ${label('oauth')}.`)
    return undefined
  }
  if (!url) {
    throw new ConfigError(
      `${label('oauth')} needs ${label('public-url')}: the address under which clients and browsers reach this server, such as https://voice.example.com.`,
    )
  }
  return {
    /** Public origin of this server. */
    publicUrl: publicAddress(url, label('public-url')),
    /** JSON file of the operator's clients. */
    clientsFile,
    /** Proxy for client metadata documents. */
    proxy: httpsProxy(env),
  }
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
