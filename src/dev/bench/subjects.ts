import { join } from 'node:path'
import { clientMeta, mcpHttpRequest } from '../../../test/harness/mcp-request.ts'
import { openSandbox } from '../../sandbox/sandbox.ts'
import { sandboxKeys, seedIds } from '../../sandbox/seed.ts'
import {
  cores,
  type Load,
  type Loaded,
  median,
  program,
  put,
  type Running,
  start,
} from './processes.ts'

export const apiKey = 'bench-key-0123456789'

export type Asked = Pick<Load, 'method' | 'headers' | 'body'>

export const asked = (method: string, params: Record<string, unknown> = {}): Asked =>
  mcpHttpRequest(method, params, { key: apiKey, meta: clientMeta({}, 'bench') })

/** The call that everything is measured with: one request upstream. */
export const call = asked('tools/call', {
  name: 'get_agent',
  arguments: { agent_id: seedIds.supportAgent },
})

/** What a platform answers for a reading, from the sandbox's own data. */
export async function replyTo(path: string): Promise<string> {
  const sandbox = openSandbox({ file: ':memory:', speed: 1 })
  const headers = { 'x-api-key': sandboxKeys.main }
  const response = await sandbox.fetch(new Request(`http://sandbox/v1/${path}`, { headers }))
  const text = await response.text()
  sandbox.close()
  return text
}

const here = (file: string) => join(import.meta.dirname, file)

/** Starts a server to compare with. */
export const other = (kind: string, argument: string, core = cores.measured): Promise<Running> =>
  start({ args: [here('servers.ts'), kind, argument], core })

/** Starts the server itself in front of a platform. */
export const served = (
  platform: string,
  more: Record<string, string> = {},
  core = cores.measured,
): Promise<Running> =>
  start({
    args: [program, 'http', '--port', '0'],
    core,
    env: {
      VOICE_AGENT_BASE_URL: new URL(platform).origin,
      VOICE_AGENT_API_KEY: apiKey,
      VOICE_AGENT_STATE_DIR: ':memory:',
      VOICE_AGENT_LOCAL_TOKEN: 'off',
      ...more,
    },
  })

export interface Subject {
  readonly name: string
  readonly server: Running
  readonly path: string
  readonly asked: Asked
}

export interface Measured {
  /** Per second of its core. */
  readonly perCpuSecond: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/**
 * Asks each in turn, several times around, so that what else the machine does strikes all alike.
 * The first round warms up and is not counted.
 */
export async function compare(
  subjects: readonly Subject[],
  { connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
  folder: string,
): Promise<Map<string, Measured>> {
  const runs = new Map<string, (Loaded & { cpu: number })[]>(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const { name, server, path, asked } of subjects) {
      const before = server.cpu()
      const url = new URL(path, server.url).href
      const loaded = await put({ url, ...asked, connections, seconds }, folder)
      if (round > 0) runs.get(name)?.push({ ...loaded, cpu: server.cpu() - before })
    }
  }
  return new Map(
    [...runs].map(([name, all]) => [
      name,
      {
        perCpuSecond: median(all.map(({ requests, cpu }) => requests / cpu)),
        perSecond: median(all.map(({ requests, seconds }) => requests / seconds)),
        p50: median(all.map(({ p50 }) => p50)),
        p99: median(all.map(({ p99 }) => p99)),
      },
    ]),
  )
}
