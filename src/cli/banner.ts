import { networkInterfaces } from 'node:os'
import type { Config } from '../config/config.ts'
import { localTokenHeader } from '../session/credential.ts'
import type { Listening } from '../transports/listen.ts'
import type { OwnKey } from '../transports/own-key.ts'
import { log } from './log.ts'

/** Tells the operator where the server is, what to know of it, and how a client is connected. */
export function tellAddress(
  server: Listening,
  config: Extract<Config, { command: 'http' }>,
  { isLoopback, ownKey }: { isLoopback: boolean; ownKey: OwnKey },
): void {
  const everywhere = server.isEverywhere ? ' (and at every other address of this machine)' : ''
  log(`Serving MCP at ${server.url}/mcp${everywhere}`)
  if (!isLoopback) warnOfExposure(config)
  if (ownKey.usedBy === 'owner' && !ownKey.token) {
    log(
      'Every user and program of this machine can use VOICE_AGENT_API_KEY through this server (--local-token off).',
    )
  }
  process.stderr.write(clientHelp(`${urlForClients(server, config.allowedHosts)}/mcp`, ownKey))
}

/** What an operator who listens to the whole network should know. */
function warnOfExposure(config: Extract<Config, { command: 'http' }>): void {
  const { platform, allowedHosts } = config
  if (platform.kind === 'network' && platform.apiKey !== undefined) {
    log(
      'VOICE_AGENT_API_KEY is lent on loopback only; requests from elsewhere bring their own key.',
    )
  }
  if (allowedHosts.length === 0) {
    log('Any Host name is accepted. Name those that lead here with --allowed-hosts.')
  }
}

/**
 * The address as clients write it: by the name that the operator has given for it, or else by this
 * machine's own address, where it listens on that.
 */
function urlForClients({ url, isEverywhere }: Listening, [named]: readonly string[]): string {
  const { port } = new URL(url)
  if (named !== undefined) return `http://${named}:${port}`
  const own = isEverywhere
    ? Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .find(({ internal, family }) => !internal && family === 'IPv4')
    : undefined
  return own ? `http://${own.address}:${port}` : url
}

/** How to connect a client, ready to paste. */
function clientHelp(url: string, ownKey: OwnKey): string {
  const { header, note } = secretOf(ownKey)
  const headers = header && { [header.name]: header.value }
  const entry = { type: 'http', url, ...(headers && { headers }) }
  const flag = header ? ` --header "${header.name}: ${header.value}"` : ''
  return `
Claude Code:    claude mcp add --transport http voice-agents ${url}${flag}
Other clients:  ${JSON.stringify({ mcpServers: { 'voice-agents': entry } })}
${note}
`
}

/** What clients send to be let in, and what a person should know of it. */
function secretOf(ownKey: OwnKey): { header?: { name: string; value: string }; note: string } {
  if (ownKey.usedBy === 'nobody') {
    return {
      header: { name: 'X-API-Key', value: 'YOUR-API-KEY' },
      note: 'Each request brings its own API key; it is passed on to the platform.\n',
    }
  }
  if (ownKey.usedBy === 'anybody' || !ownKey.token) return { note: '' }
  const { token, file } = ownKey.token
  const lasting =
    file === undefined
      ? 'It is a new one for each run.'
      : `It stays the same, and is kept in ${file}.`
  return {
    header: { name: localTokenHeader, value: token },
    note: `The local token lets a client use VOICE_AGENT_API_KEY: keep it to yourself. ${lasting}\n`,
  }
}
