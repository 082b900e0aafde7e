import { ConfigError } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import { httpsProxy, requireHttps, webAddress } from './platform.ts'
import {
  flag,
  type SettingTexts,
  settingLabel,
  settingReader,
  text,
  withVariables,
} from './setting.ts'

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
