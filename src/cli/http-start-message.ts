import { networkInterfaces } from 'node:os'
import { localTokenHeader } from '../platform/sessions/credential.ts'
import type { OwnKey } from '../server/transports/http-authentication.ts'
import { anyHost, type Listening } from '../server/transports/listen.ts'
import { usualServerName } from './commands/install.ts'
import type { ListenConfig, OauthConfig } from './config/http.ts'
import { isLoopback, type PlatformConfig } from './config/platform.ts'
import type { RemoteServer } from './install/server-entry.ts'

/** Settings that determine the server's address for clients. */
type Names = Pick<ListenConfig, 'allowedHosts'> & { readonly oauth: OauthConfig | undefined }

/** Log lines with the server's address and security notes. */
export function httpStartLines(
  server: Listening,
  { listen, platform, allowedHosts }: ListenConfig & { platform: PlatformConfig },
  ownKey: OwnKey,
): string[] {
  const isLocal = isLoopback(listen.host)
  const everywhere = server.isEverywhere ? ' (and at every other address of this machine)' : ''
  const hasKey = platform.kind === 'network' && platform.apiKey !== undefined
  const lines = [
    `Serving MCP at ${server.url}/mcp${everywhere}`,
    !isLocal &&
      hasKey &&
      'VOICE_AGENT_API_KEY is used only by servers on loopback; requests to this one bring their own key.',
    !isLocal &&
      hostNames(allowedHosts).length === 0 &&
      'Any Host name is accepted. List the names of this server with --allowed-hosts.',
    ownKey.usedBy === 'local-user' &&
      !ownKey.token &&
      'Every user and program of this machine can use VOICE_AGENT_API_KEY through this server (--local-token off).',
  ]
  return lines.filter((line) => line !== false)
}

const hostNames = (allowedHosts: readonly string[]) =>
  allowedHosts.filter((name) => name !== anyHost)

/** The origin that clients and browsers use. */
export const originFor = (server: Listening, { allowedHosts, oauth }: Names): string =>
  oauth?.publicUrl.origin ?? urlForClients(server, allowedHosts)

/**
 * The URL that clients use: with the first allowed host name, otherwise with this machine's own
 * address.
 */
function urlForClients({ url, isEverywhere }: Listening, allowedHosts: readonly string[]): string {
  const { port } = new URL(url)
  const [name] = hostNames(allowedHosts)
  if (name !== undefined) return `http://${name}:${port}`
  const own = isEverywhere
    ? Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .find(({ internal, family }) => !internal && family === 'IPv4')
    : undefined
  return own ? `http://${own.address}:${port}` : url
}

/** Commands and settings that connect a client, ready to paste. */
export function connectHelp(server: Listening, names: Names, ownKey: OwnKey): string {
  const base = originFor(server, names)
  const url = `${base}/mcp`
  const { header, note } = credential(ownKey, accessOf(ownKey, names.oauth !== undefined))
  const headers = header && { [header.name]: header.value }
  const entry = { type: 'http', url, ...(headers && { headers }) }
  return `
Claude Code:    ${claudeCommand(url, header)}
Other clients:  ${JSON.stringify({ mcpServers: { [usualServerName]: entry } })}
In a browser:   ${base}/ (how to connect each client)
${note}
`
}

type Header = RemoteServer['header']

/** The command that adds the server to Claude Code. */
export const claudeCommand = (url: string, header: Header): string =>
  `claude mcp add --transport http ${usualServerName} ${url}${headerFlag(header)}`

export const headerFlag = (header: Header): string =>
  header ? ` --header "${header.name}: ${header.value}"` : ''

/** Credential that requests of clients need. */
export type Access =
  /** No credential: the sandbox, or a server that asks local users for none. */
  | 'none'
  /** An API key of the platform. */
  | 'key'
  /** The local token of this server, or an API key. */
  | 'local_token'
  /** Clients get a token by OAuth, or send an API key. */
  | 'oauth'

export function accessOf(ownKey: OwnKey, hasOauth: boolean): Access {
  if (hasOauth) return 'oauth'
  if (ownKey.usedBy === 'none') return 'key'
  return ownKey.usedBy === 'local-user' && ownKey.token ? 'local_token' : 'none'
}

/** The header to send, with a placeholder for the secret. */
export const secretHeaders: Readonly<Record<Access, Header>> = {
  none: undefined,
  oauth: undefined,
  key: { name: 'X-API-Key', value: 'YOUR-API-KEY' },
  local_token: { name: localTokenHeader, value: 'YOUR-LOCAL-TOKEN' },
}

/** The header with the local token, if it is used, and a note about the credential. */
function credential(ownKey: OwnKey, access: Access): { header: Header; note: string } {
  const token = ownKey.usedBy === 'local-user' ? ownKey.token : undefined
  if (access !== 'local_token' || !token)
    return { header: secretHeaders[access], note: notes[access] }
  const lasting =
    token.file === undefined
      ? 'It is a new one for each run.'
      : `It stays the same, and is kept in ${token.file}.`
  return {
    header: { name: localTokenHeader, value: token.token },
    note: `${notes.local_token} ${lasting}\n`,
  }
}

const notes: Readonly<Record<Access, string>> = {
  none: '',
  local_token: 'The local token lets a client use VOICE_AGENT_API_KEY: keep it to yourself.',
  key: 'Each request brings its own API key; it is passed on to the platform.\n',
  oauth:
    'Hosted clients: add the address as a connector. A person gives the API key on a page of this server.\nA client with an API key of its own sends it as X-API-Key.\n',
}
