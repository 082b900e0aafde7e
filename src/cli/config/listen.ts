import { ConfigError } from './config-error.ts'
import { list, number, type SettingTexts, settingLabel, settingReader, text } from './setting.ts'

/** The address that a server listens on, and the host names it is called by. */
export interface ListenConfig {
  listen: {
    host: string
    /** 0 picks a free one. */
    port: number
  }
  /** Host names that clients may use besides localhost, or `*`; none: any name, unless on loopback. */
  allowedHosts: readonly string[]
}

export const listenSettings = {
  host: text({
    variable: 'VOICE_AGENT_HOST',
    value: 'HOST',
    help: 'Address to listen on.',
    range: 'Default 127.0.0.1.',
  }),
  port: number({
    variable: 'VOICE_AGENT_PORT',
    value: 'PORT',
    help: 'Port to listen on; 0 picks a free one.',
    least: 0,
    most: 65_535,
    isWhole: true,
    default: undefined,
    range: '0 to 65535; default 3000 (http), 8080 (sandbox).',
  }),
  'allowed-hosts': list({
    variable: 'VOICE_AGENT_ALLOWED_HOSTS',
    help: 'Host names that clients may use, besides localhost; * for any.',
  }),
}

export function listenConfig(texts: SettingTexts, defaultPort: number): ListenConfig {
  const value = settingReader(listenSettings, texts)
  return {
    listen: { host: value('host') ?? '127.0.0.1', port: value('port') ?? defaultPort },
    allowedHosts: value('allowed-hosts'),
  }
}

/**
 * A server that other machines reach and that serves requests without a key must name its hosts: a web
 * page could use it through a name of its own (DNS rebinding). Throws ConfigError.
 */
export function requireHosts({ listen, allowedHosts }: ListenConfig): void {
  if (isLoopback(listen.host) || allowedHosts.length > 0) return
  throw new ConfigError(
    `On ${listen.host} the sandbox would answer everybody, under any host name. Name the hosts it is reached by with ${settingLabel(listenSettings, 'allowed-hosts')}, or allow any with '*'.`,
  )
}

/** True for names and addresses that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** The address of the metrics; `undefined`: there are none. */
export interface MetricsConfig {
  readonly metrics: { readonly host: string; readonly port: number } | undefined
}

export const metricsSettings = {
  'metrics-port': number({
    variable: 'VOICE_AGENT_METRICS_PORT',
    value: 'PORT',
    help: 'Port of GET /metrics, for Prometheus; 0 picks a free one.',
    least: 0,
    most: 65_535,
    isWhole: true,
    default: undefined,
    range: '0 to 65535; default: no metrics.',
  }),
  'metrics-host': text({
    variable: 'VOICE_AGENT_METRICS_HOST',
    value: 'HOST',
    help: 'Address to serve metrics on. Whoever reaches it can read them: they have no key.',
    range: 'Default 127.0.0.1, whatever --host is.',
  }),
}

export function metricsConfig(texts: SettingTexts): MetricsConfig {
  const value = settingReader(metricsSettings, texts)
  const port = value('metrics-port')
  if (port === undefined) return { metrics: undefined }
  return { metrics: { host: value('metrics-host') ?? '127.0.0.1', port } }
}
