import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, type Program, scratchFolder, startHttpProgram } from './program.ts'

/**
 * An OAuth client that the operator has registered in the settings. Its loopback redirect URI
 * matches any port.
 */
export const givenClient = {
  client_id: 'given-client',
  client_name: 'A given client',
  redirect_uris: ['http://127.0.0.1/callback'],
  token_endpoint_auth_method: 'none',
}

export interface OauthProgram extends Program {
  /** Public origin of the server, which is also the OAuth issuer. */
  readonly origin: string
  /** URL of the MCP endpoint. */
  readonly url: string
}

/** Starts the built program with OAuth, on the sandbox. */
export async function startOauthProgram(): Promise<OauthProgram> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  // The folder may be removed after the start, because the program reads the file only once.
  using folder = scratchFolder()
  const clients = join(folder.path, 'clients.json')
  writeFileSync(clients, JSON.stringify([givenClient]))
  const oauth = ['--oauth', '--public-url', origin, '--oauth-clients', clients]
  const program = await startHttpProgram({}, [...oauth, '--port', String(port)])
  return Object.assign(program, { origin })
}
