import { readFileSync } from 'node:fs'
import { startProcess } from '../../harness/program.ts'

/** CPU cores: one for the measured server, the other for everything else (taskset, Linux only). */
export const cores = { measured: '0', others: '1' }

/** Low-memory options of docs/deployment.md. */
export const scarceMemory = {
  MALLOC_ARENA_MAX: '1',
  NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=256',
}

/** A server in a separate process. */
export interface MeasuredServer extends AsyncDisposable {
  readonly url: string
  usage(): ProcessUsage
}

/**
 * Starts Node.js with a script that prints its address on standard error. `core`, if given, pins
 * the process.
 */
export async function startServer(
  args: readonly string[],
  env: Record<string, string> = {},
  core?: string,
): Promise<MeasuredServer> {
  const pinned = core === undefined ? [] : ['taskset', '-c', core]
  const server = startProcess([...pinned, process.execPath, ...args], env)
  const [, url = ''] = await server.waitFor(/Serving (?:MCP )?at (http:\S+)/)
  return {
    url,
    usage: () => usageOf(server.process),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Resource usage of a process, from /proc (proc(5), Linux only). */
export interface ProcessUsage {
  /** Processor time so far, s. */
  readonly cpu: number
  /** Current and peak resident memory, MB; NaN while the process ends. */
  readonly memory: number
  readonly peakMemory: number
}

export function usageOf({ pid }: { readonly pid?: number | undefined }): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Fields 14 and 15, in hundredths of a second. Fields are counted after the name in parentheses,
  // because the name may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return {
    cpu: (Number(fields[11]) + Number(fields[12])) / 100,
    memory: megabytes('VmRSS'),
    peakMemory: megabytes('VmHWM'),
  }
}
