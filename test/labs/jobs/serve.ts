import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { listen } from '../../../src/server/transports/listen.ts'
import { startProgram } from '../../harness/program.ts'
import { forward } from '../../harness/replicas.ts'
import { clockSetTo, startOfRun } from './clock.ts'
import { jobNamed, jobs } from './jobs.ts'
import { keyOf } from './seed/accounts.ts'
import { makeSeededSandbox } from './seed/seed-company.ts'

/** Addresses of the proxied programs. */
interface Behind {
  readonly mcp: string
  readonly rest: string
}

/** Path of a run's database in its folder. */
export const databaseOf = (folder: string): string => join(folder, 'sandbox.db')

/**
 * Fills a sandbox in the folder, replacing an earlier run's, and serves it. Each job has an
 * address that acts only on the job's company: `URL/JOB/mcp` is the MCP server, `URL/JOB/v1` the
 * platform's REST API.
 */
export async function serveJobs({
  folder,
  port,
  speed,
}: {
  folder: string
  port: number
  speed: number
}) {
  await using resources = new AsyncDisposableStack()
  const { promise: started, resolve: start } = Promise.withResolvers<Behind>()
  // Listens first: if that fails, nothing else has been started. Requests wait until the programs
  // have started.
  const listening = await listen(
    createServer((incoming, outgoing) => {
      void started.then((behind) => pass(incoming, outgoing, behind))
    }),
    { host: '127.0.0.1', port },
  )
  resources.defer(() => listening.close())
  const stateDir = join(folder, 'state')
  mkdirSync(folder, { recursive: true })
  rmSync(stateDir, { recursive: true, force: true })
  makeSeededSandbox(databaseOf(folder), jobs)
  const env = {
    VOICE_AGENT_SANDBOX_DB: databaseOf(folder),
    VOICE_AGENT_SANDBOX_SPEED: String(speed),
    ...clockSetTo(startOfRun),
  }
  const onMcp = { ...env, VOICE_AGENT_STATE_DIR: stateDir }
  const mcp = resources.use(startProgram(['http', '--port', '0'], onMcp))
  const rest = resources.use(startProgram(['sandbox', '--port', '0'], env))
  const [, mcpUrl = ''] = await mcp.waitFor(/Serving MCP at (\S+)\/mcp/)
  const [, restUrl = ''] = await rest.waitFor(/sandbox API at (\S+)\/v1/)
  start({ mcp: mcpUrl, rest: restUrl })
  const running = resources.move()
  return { url: listening.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Proxies a request to a program, with the API key of the job in its path. */
function pass(incoming: IncomingMessage, outgoing: ServerResponse, behind: Behind): void {
  const [, job = '', path = ''] = /^\/([a-z-]+)(\/.*)$/.exec(incoming.url ?? '') ?? []
  if (!jobNamed(job)) {
    outgoing.writeHead(404).end(`There is no job ${job}. Paths are /JOB/mcp and /JOB/v1/…\n`)
    return
  }
  const target = new URL(path, path.startsWith('/mcp') ? behind.mcp : behind.rest)
  incoming.headers = { ...incoming.headers, host: target.host, 'x-api-key': keyOf(job) }
  forward(incoming, outgoing, target.href)
}
