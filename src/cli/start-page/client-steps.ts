import { localTokenHeader } from '../../session/credential.ts'
import { type Client, clients } from '../install/clients.ts'
import type { Machine } from '../install/machine.ts'
import { type RemoteServer, remoteInstall } from '../install/remote-entry.ts'
import type { Access, ClientSteps } from './model.ts'

/** The header to send, with a placeholder for the secret. */
const headers: Readonly<Record<Access, RemoteServer['header']>> = {
  none: undefined,
  oauth: undefined,
  key: { name: 'X-API-Key', value: 'YOUR-API-KEY' },
  local_token: { name: localTokenHeader, value: 'YOUR-LOCAL-TOKEN' },
}

const name = 'voice-agents'

/** How each client is connected to this server, on a machine like that of the browser. */
export function clientSteps(
  { url, access }: { readonly url: string; readonly access: Access },
  userAgent: string,
): ClientSteps[] {
  const server = { name, url, header: headers[access] }
  return clients.map((client) => {
    const install = remoteInstall(client, server)
    return {
      id: client.id,
      title: client.title,
      command: commands[client.id]?.(server),
      link: install?.link,
      file: install && { path: filePath(client, userAgent), text: install.text },
      restart: client.restart,
    }
  })
}

/** The commands of clients that have one for this. */
const commands: Readonly<Record<string, (server: RemoteServer) => string>> = {
  'claude-code': ({ url, header }) =>
    `claude mcp add --transport http ${name} ${url}${headerFlag(header)}`,
  gemini: ({ url, header }) =>
    `gemini mcp add --scope user --transport http${headerFlag(header)} ${name} ${url}`,
}

const headerFlag = (header: RemoteServer['header']) =>
  header ? ` --header "${header.name}: ${header.value}"` : ''

/** The usual place of a client's file. This server's own machine is not looked at. */
function filePath(client: Client, userAgent: string): string {
  if (/Windows/.test(userAgent)) {
    return client.locate(machine('win32', '%USERPROFILE%')).file.replaceAll('/', '\\')
  }
  return client.locate(machine(/Mac/.test(userAgent) ? 'darwin' : 'linux', '~')).file
}

const machine = (platform: NodeJS.Platform, home: string): Machine => ({ platform, home, env: {} })
