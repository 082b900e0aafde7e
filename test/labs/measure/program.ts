import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { ToolResult } from '../../harness/client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { type Program, startProcess } from '../../harness/program.ts'
import { type RpcOptions, rpc } from '../../harness/rpc.ts'

/** CPU cores: one for the measured server, the other for everything else (taskset, Linux only). */
export const cores = { measured: '0', others: '1' }

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

const Answer = z.looseObject({
  /** Absent or null in an answer to a message without an id. */
  id: z.union([z.number(), z.string()]).nullish(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.unknown().optional(),
})

/** An MCP client over stdio. Requests may be concurrent. */
export class StdioClient {
  readonly #program: Program
  readonly #waiting = new Map<number, (answer: z.output<typeof Answer>) => void>()
  #lastId = 0

  constructor(program: Program) {
    this.#program = program
    // A write to an ended program fails. `exited` reports the end.
    program.process.stdin.on('error', () => undefined)
    let rest = ''
    program.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      // A program that is killed may have written half a line.
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#read(line)
    })
  }

  #read(line: string): void {
    const answer = Answer.parse(JSON.parse(line))
    if (typeof answer.id !== 'number') return
    this.#waiting.get(answer.id)?.(answer)
    this.#waiting.delete(answer.id)
  }

  /**
   * Sends a request and returns its result. Throws on an error response, or if the program ends.
   */
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

/** Calls a tool over HTTP. Throws on a protocol error. */
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

/** The text of a tool result. */
export const textOf = ({ content }: ToolResult): string =>
  content.map(({ text }) => text).join('\n')
