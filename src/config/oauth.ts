import { ConfigError } from './config-error.ts'
import { isLoopback } from './loopback.ts'
import { type HttpsProxy, httpsProxy } from './platform.ts'
import { flag, type SettingTexts, settingLabel, settingReader, text } from './setting.ts'
import type { Environment } from './setting-texts.ts'

/** The authorization server beside the MCP server. */
export interface OauthConfig {
  /** The origin under which clients and browsers reach this server. */
  readonly publicUrl: URL
  /** The file of the clients that the operator gives, as JSON. */
  readonly clientsFile: string | undefined
  /** For the documents that clients publish. */
  readonly proxy: HttpsProxy | undefined
}

export const oauthSettings = {
  oauth: flag({
    variable: 'VOICE_AGENT_OAUTH',
    help: 'Be an OAuth authorization server, too, so that hosted clients connect without a key of their own: persons give theirs on a page of this server. Needs --public-url. The variable takes true or false.',
  }),
  'public-url': text({
    variable: 'VOICE_AGENT_PUBLIC_URL',
    value: 'URL',
    help: 'The address under which clients and browsers reach this server, with --oauth: https without a path, or http on this machine.',
  }),
  'oauth-clients': text({
    variable: 'VOICE_AGENT_OAUTH_CLIENTS',
    value: 'FILE',
    help: 'JSON file of OAuth clients that need not register, with --oauth (see docs/connectors.md).',
  }),
}

/** `undefined`: there is no authorization server. Throws ConfigError. */
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

/** Tokens and keys are sent there, so it has to be https; its path must be the server's own. */
function publicAddress(given: string, label: string): URL {
  const url = URL.parse(given)
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw new ConfigError(`${label} is not a web address. A web address starts with https://.`)
  if (url.username || url.password || url.pathname !== '/' || url.search || url.hash) {
    throw new ConfigError(
      `${label} is only the scheme, the host and, if it is not the usual one, the port: ${url.protocol}//${url.host}. The paths below it have to reach this server as they are.`,
    )
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ConfigError(
      `${label} must be https: with plain http to ${url.hostname}, others on the network could read keys and tokens.`,
    )
  }
  return url
}
