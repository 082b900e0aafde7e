import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { ToolResult } from '../../harness/client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import type { Program } from '../../harness/program.ts'

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
