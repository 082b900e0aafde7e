import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { ToolResult } from '../../harness/client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { type Program, startProcess } from '../../harness/program.ts'
import { type RpcOptions, rpc } from '../../harness/rpc.ts'

/** What is measured runs on one core, everything else on the other (taskset, Linux only). */
export const cores = { measured: '0', others: '1' }

/** A server in a process of its own. */
export interface MeasuredServer extends AsyncDisposable {
  readonly url: string
  usage(): ProcessUsage
}

/** Starts Node with a script that prints its address on standard error; on a core, where one is named. */
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

/** What a process uses, from /proc (proc(5), Linux only). */
export interface ProcessUsage {
  /** Processor time so far, s. */
  readonly cpu: number
  /** Resident memory now and at most, MB; NaN while the process ends. */
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

const Answer = z.looseObject({
  /** Absent or null where the message that it answers had none. */
  id: z.union([z.number(), z.string()]).nullish(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.unknown().optional(),
})

/** A client of a program over stdio. It may send several requests at once. */
export class StdioClient {
  readonly #program: Program
  readonly #waiting = new Map<number, (answer: z.output<typeof Answer>) => void>()
  #lastId = 0

  constructor(program: Program) {
    this.#program = program
    // A write to a program that has ended: `exited` reports it.
    program.process.stdin.on('error', () => undefined)
    createInterface(program.process.stdout).on('line', (line) => {
      const answer = Answer.parse(JSON.parse(line))
      if (typeof answer.id !== 'number') return
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
  }

  /** Sends a request and gives its result. Throws when it is refused or the program ends. */
  async request(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = ++this.#lastId
    const answered = new Promise<z.output<typeof Answer>>((resolve) =>
      this.#waiting.set(id, resolve),
    )
    this.#program.process.stdin.write(`${mcpHttpRequest(method, params, { id }).body}\n`)
    const ended = this.#program.exited.then((code) => {
      throw new Error(`The program ended with ${code}: ${this.#program.stderr()}`)
    })
    const { result, error } = await Promise.race([answered, ended])
    assert.equal(error, undefined)
    return result
  }

  async callTool(name: string, args: Record<string, unknown>): Promise<ToolResult> {
    return ToolResult.parse(await this.request('tools/call', { name, arguments: args }))
  }
}

/** Calls a tool over HTTP. Throws where there is a protocol error. */
export async function callBuiltTool(
  url: string,
  name: string,
  args: Record<string, unknown> = {},
  options?: RpcOptions,
): Promise<ToolResult> {
  const { result, error } = await rpc(url, 'tools/call', { name, arguments: args }, options)
  assert.equal(error, undefined)
  return ToolResult.parse(result)
}

/** The text of a result, for people and models. */
export const textOf = ({ content }: ToolResult): string =>
  content.map(({ text }) => text).join('\n')
