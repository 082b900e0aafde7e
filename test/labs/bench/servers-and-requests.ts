import { join } from 'node:path'
import { openSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts'
import { sandboxKeys, seedIds } from '../../../src/sandbox/seed.ts'
import { clientMeta, mcpHttpRequest } from '../../harness/mcp-request.ts'
import { bin } from '../../harness/program.ts'
import { cores, type MeasuredServer, startServer } from '../measure/program.ts'
import type { Load } from './load.ts'

export const apiKey = 'bench-key-0123456789'

export type BenchRequest = Pick<Load, 'method' | 'headers' | 'body'>

export const mcpRequest = (method: string, params: Record<string, unknown> = {}): BenchRequest =>
  mcpHttpRequest(method, params, { key: apiKey, meta: clientMeta({}, 'bench') })

/** The tool call of all measurements. It sends one request to the platform. */
export const getAgentRequest = mcpRequest('tools/call', {
  name: 'get_agent',
  arguments: { agent_id: seedIds.supportAgent },
})

/**
 * Sends a request for the main account to a sandbox in this process, and returns the body of the
 * reply. Throws if the request fails.
 */
export async function sendToSandbox(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: object,
): Promise<string> {
  const response = await sandbox.fetch(
    new Request(`http://sandbox/v1/accounts/me/${path}`, {
      method,
      headers: { 'x-api-key': sandboxKeys.main },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

/** Body of a platform's reply to a GET for the main account, from the sandbox's data. */
export async function sandboxReply(path: string): Promise<string> {
  const sandbox = openSandbox({ file: ':memory:', speed: 1 })
  const reply = await sendToSandbox(sandbox, 'GET', path)
  sandbox.close()
  return reply
}

/** Starts one of compared-servers.ts. */
export const startCompared = (
  kind: string,
  argument: string,
  core = cores.measured,
): Promise<MeasuredServer> =>
  startServer([join(import.meta.dirname, 'compared-servers.ts'), kind, argument], {}, core)

/** Starts the built server in front of a platform. */
export const startOurs = (
  platform: string,
  env: Record<string, string> = {},
  core = cores.measured,
): Promise<MeasuredServer> =>
  startServer(
    [bin, 'http', '--port', '0'],
    {
      VOICE_AGENT_BASE_URL: new URL(platform).origin,
      VOICE_AGENT_API_KEY: apiKey,
      VOICE_AGENT_STATE_DIR: ':memory:',
      VOICE_AGENT_LOCAL_TOKEN: 'off',
      ...env,
    },
    core,
  )
