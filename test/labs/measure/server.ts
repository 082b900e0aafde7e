import { setTimeout as sleep } from 'node:timers/promises'
import { bin, startProcess } from '../../harness/program.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

/** What is measured runs on one core, everything else on the other (taskset, Linux only). */
export const cores = { measured: '0', others: '1' }

/** A server in a process of its own. */
export interface MeasuredServer extends AsyncDisposable {
  readonly url: string
  usage(): ProcessUsage
}

export interface ServerCommand {
  /** Arguments of Node: the script, and what the script is given. */
  readonly args: readonly string[]
  readonly env?: Record<string, string>
  /** The core that it runs on; any when absent. */
  readonly core?: string
}

/** Starts a server that prints its address on standard error. */
export async function startServer({ args, env, core }: ServerCommand): Promise<MeasuredServer> {
  const pinned = core === undefined ? [] : ['taskset', '-c', core]
  const server = startProcess([...pinned, process.execPath, ...args], env)
  const [, url = ''] = await server.waitFor(/Serving (?:MCP )?at (http:\S+)/)
  return {
    url,
    usage: () => usageOf(server.process),
    async [Symbol.asyncDispose]() {
      // Not killed at once: Node writes a profile (--cpu-prof) when it ends by itself.
      server.process.kill('SIGINT')
      await Promise.race([server.exited, sleep(5000, undefined, { ref: false })])
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Starts the built program as a server over HTTP on a free port. */
export const startBuiltServer = (
  env: Record<string, string>,
  { program = bin, nodeOptions = [], core }: BuiltServerOptions = {},
): Promise<MeasuredServer> =>
  startServer({
    args: [...nodeOptions, program, 'http', '--port', '0'],
    env,
    ...(core !== undefined && { core }),
  })

export interface BuiltServerOptions {
  readonly program?: string
  readonly nodeOptions?: readonly string[]
  readonly core?: string
}
