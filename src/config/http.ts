import type { AddressRange } from '../transports/client-network.ts'
import type { HttpLimits } from '../transports/http-limits.ts'
import { addressRanges } from './address-ranges.ts'
import { sharedPlatformSettings } from './platform.ts'
import { count, list, onOff, type SettingTexts, seconds, settingReader } from './setting.ts'

/** Who may use the HTTP server, and how much of it. */
export interface HttpConfig {
  /** Host names of web pages that may connect. */
  allowedOrigins: readonly string[]
  /** Proxies in front of the server, which tell the addresses of clients. */
  trustedProxies: readonly AddressRange[]
  /** Whether requests that use the server's own key must bring its local token. */
  wantsLocalToken: boolean
  limits: HttpLimits
  /** The longest time for requests under way when the server is told to stop, ms. */
  drainMs: number
}

export const httpSettings = {
  'allowed-origins': list({
    variable: 'VOICE_AGENT_ALLOWED_ORIGINS',
    help: "Host names of web pages that may connect. Pages on localhost need this only to use the server's own key.",
  }),
  'trusted-proxies': addressRanges({
    variable: 'VOICE_AGENT_TRUSTED_PROXIES',
    help: 'Proxies in front of this server: what they write into X-Forwarded-For tells which client sent a request, for the limits by address.',
  }),
  'local-token': onOff({
    variable: 'VOICE_AGENT_LOCAL_TOKEN',
    help: "on: requests that use the server's own key must bring its local token; off: they need no token.",
    default: 'on',
  }),
  'max-requests': count({
    variable: 'VOICE_AGENT_MAX_REQUESTS',
    help: 'Most requests that are served at once, in all. Further ones are answered with 503.',
    least: 1,
    default: 1000,
  }),
  'max-requests-per-key': count({
    variable: 'VOICE_AGENT_MAX_REQUESTS_PER_KEY',
    help: 'Most requests that are served at once for one API key. Further ones are answered with 429.',
    least: 0,
    default: 500,
  }),
  'max-requests-per-address': count({
    variable: 'VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS',
    help: 'Most requests that are served at once for one client address. Behind a proxy, name it with --trusted-proxies, or set 0: all clients have its address.',
    least: 0,
    default: 500,
  }),
  'max-rate': count({
    variable: 'VOICE_AGENT_MAX_RATE',
    help: 'Most requests a minute, on average, in all; as many may come at once. Further ones are answered with 503.',
    least: 0,
    default: 0,
  }),
  'max-rate-per-key': count({
    variable: 'VOICE_AGENT_MAX_RATE_PER_KEY',
    help: 'Most requests a minute, on average, for one API key; as many may come at once. Further ones are answered with 429.',
    least: 0,
    default: 0,
  }),
  'max-rate-per-address': count({
    variable: 'VOICE_AGENT_MAX_RATE_PER_ADDRESS',
    help: 'The same for one client address (see --trusted-proxies).',
    least: 0,
    default: 0,
  }),
  'max-waits': count({
    variable: 'VOICE_AGENT_MAX_WAITS',
    help: 'Most waits for calls at once (wait_for_call, and placing with follow), in all. Each is a request, too.',
    least: 0,
    default: 800,
  }),
  'max-waits-per-key': count({
    variable: 'VOICE_AGENT_MAX_WAITS_PER_KEY',
    help: 'Most waits for calls at once for one API key.',
    least: 0,
    default: 200,
  }),
  'max-waits-per-address': count({
    variable: 'VOICE_AGENT_MAX_WAITS_PER_ADDRESS',
    help: 'Most waits for calls at once for one client address.',
    least: 0,
    default: 400,
  }),
  'max-streams': count({
    variable: 'VOICE_AGENT_MAX_STREAMS',
    help: 'Most open streams (subscriptions/listen), in all.',
    least: 1,
    default: 2000,
  }),
  'max-streams-per-key': count({
    variable: 'VOICE_AGENT_MAX_STREAMS_PER_KEY',
    help: 'Most open streams for one API key.',
    least: 0,
    default: 200,
  }),
  'max-streams-per-address': count({
    variable: 'VOICE_AGENT_MAX_STREAMS_PER_ADDRESS',
    help: 'Most open streams for one client address.',
    least: 0,
    default: 500,
  }),
  'max-watched-per-address': count({
    variable: 'VOICE_AGENT_MAX_WATCHED_PER_ADDRESS',
    help: 'Most resources that are watched for subscriptions from one client address.',
    least: 0,
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
    help: 'Longest time for requests under way when the server is told to stop; placing a call takes at most 54.',
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
