import assert from 'node:assert/strict'
import * as z from 'zod'
import { ToolResult } from '../../harness/client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import type { Program } from '../../harness/program.ts'
import { type RpcOptions, rpc } from '../../harness/rpc.ts'

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
