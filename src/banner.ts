import { networkInterfaces } from 'node:os'
import type { Config } from './config.ts'
import { log } from './log.ts'
import type { Listening } from './transports/listen.ts'

/** Tells the operator where the server is, what to know of it, and how a client is connected. */
export function tellAddress(
  server: Listening,
  config: Extract<Config, { command: 'http' }>,
  { isLoopback, lendsKey }: { isLoopback: boolean; lendsKey: boolean },
): void {
  const everywhere = server.isEverywhere ? ' (and at every other address of this machine)' : ''
  log(`Serving MCP at ${server.url}/mcp${everywhere}`)
  if (!isLoopback) warnOfExposure(config, lendsKey)
  process.stderr.write(clientHelp(`${urlForClients(server, config.allowedHosts)}/mcp`, lendsKey))
}

/** What an operator who listens to the whole network should know. */
function warnOfExposure(config: Extract<Config, { command: 'http' }>, lendsKey: boolean): void {
  const { platform, allowedHosts } = config
  if (platform.kind === 'network' && platform.apiKey !== undefined && !lendsKey) {
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
function clientHelp(url: string, keyIsOptional: boolean): string {
  const headers = { 'X-API-Key': 'YOUR-API-KEY' }
  const entry = { type: 'http', url, ...(!keyIsOptional && { headers }) }
  const header = keyIsOptional ? '' : ' --header "X-API-Key: YOUR-API-KEY"'
  return `
Claude Code:    claude mcp add --transport http voice-agents ${url}${header}
Other clients:  ${JSON.stringify({ mcpServers: { 'voice-agents': entry } })}
${keyIsOptional ? '' : 'Each request brings its own API key; it is passed on to the platform.\n'}
`
}
