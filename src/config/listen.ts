import { list, number, type SettingTexts, settingReader, text } from './setting.ts'

/** The address that a server listens on, and the host names it is called by. */
export interface ListenConfig {
  listen: {
    host: string
    /** 0 picks a free one. */
    port: number
  }
  /** Host names that clients may use besides localhost; none: any name, unless on loopback. */
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
    help: 'Host names that clients may use, besides localhost.',
  }),
}

export function listenConfig(texts: SettingTexts, defaultPort: number): ListenConfig {
  const value = settingReader(listenSettings, texts)
  return {
    listen: { host: value('host') ?? '127.0.0.1', port: value('port') ?? defaultPort },
    allowedHosts: value('allowed-hosts'),
  }
}
