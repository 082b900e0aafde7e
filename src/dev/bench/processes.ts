import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as z from 'zod'

/** What is measured runs on one core, everything else on the other. */
export const cores = { measured: '0', others: '1' }

export const program = join(import.meta.dirname, '../../../dist/voice-agent-mcp.js')

/** A folder that is gone when the bench is. */
export function scratch(): { readonly path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'bench-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** A server in a process of its own. */
export interface Running extends AsyncDisposable {
  readonly url: string
  /** Processor time used so far, s. */
  cpu(): number
  /** Memory, MB. */
  memory(): number
}

export interface Starting {
  readonly args: readonly string[]
  readonly core: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program that prints its address, on standard output or error. */
export async function start({ args, core, env = {} }: Starting): Promise<Running> {
  const child = spawn('taskset', ['-c', core, process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })
  const url = await Promise.race([addressIn(child.stdout), addressIn(child.stderr)])
  child.stdout.resume()
  child.stderr.resume()
  return {
    url,
    cpu: () => usage(child).cpu,
    memory: () => usage(child).memory,
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT')
      const killing = setTimeout(() => child.kill('SIGKILL'), 5000)
      await once(child, 'close')
      clearTimeout(killing)
    },
  }
}

async function addressIn(stream: NodeJS.ReadableStream): Promise<string> {
  const seen: string[] = []
  for await (const line of createInterface(stream)) {
    const url = /^(?:.*Serving MCP at )?(http:\S+)/.exec(line)?.[1]
    if (url) return url
    seen.push(line)
  }
  // The other stream may still say it.
  return new Promise((_, reject) =>
    setTimeout(() => reject(new Error(`A server did not start: ${seen.join('\n')}`)), 10_000),
  )
}

/** What a process uses (proc(5)). */
export interface Usage {
  /** Processor time so far, s. */
  readonly cpu: number
  /** Memory now and at most, MB. */
  readonly memory: number
  readonly mostMemory: number
}

export function usage({ pid }: Pick<ChildProcess, 'pid'>): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Fields 14 and 15, in hundredths of a second, counted from behind the name, which may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return {
    cpu: (Number(fields[11]) + Number(fields[12])) / 100,
    memory: megabytes('VmRSS'),
    mostMemory: megabytes('VmHWM'),
  }
}

export interface Load {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly connections: number
  readonly seconds: number
  /** As many API keys as wanted, in turn; 1 when absent. */
  readonly keys?: number
}

const Loaded = z.object({
  requests: z.number(),
  seconds: z.number(),
  bytes: z.number(),
  p50: z.number(),
  p99: z.number(),
})
export type Loaded = z.output<typeof Loaded>

/** Puts a load on a server, from a process of its own. */
export async function put(load: Load, folder: string): Promise<Loaded> {
  const file = join(folder, 'load.json')
  writeFileSync(file, JSON.stringify(load))
  const child = spawn(
    'taskset',
    ['-c', cores.others, process.execPath, join(import.meta.dirname, 'load.ts'), file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error('The load could not be put')
  return Loaded.parse(JSON.parse(Buffer.concat(chunks).toString()))
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits))
