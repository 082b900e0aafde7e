import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { ToolResult } from '../../../test/harness/client.ts'
import { mcpHttpRequest } from '../../../test/harness/mcp-request.ts'
import type { Program } from '../../../test/harness/program.ts'
import { type Asking, rpc } from '../../../test/harness/rpc.ts'
import { round } from '../bench/processes.ts'

/** Calls a tool over HTTP. */
export async function callTool(
  url: string,
  name: string,
  args: Record<string, unknown> = {},
  asking?: Asking,
): Promise<ToolResult> {
  const { result, error } = await rpc(url, 'tools/call', { name, arguments: args }, asking)
  assert.equal(error, undefined)
  return ToolResult.parse(result)
}

/** The text of a result, for people and models. */
export const textOf = ({ content }: ToolResult): string =>
  content.map(({ text }) => text).join('\n')

const Answer = z.looseObject({
  /** Absent or null where what it answers had none. */
  id: z.union([z.number(), z.string()]).nullish(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.unknown().optional(),
})

/** A client of a program over stdio, which may ask several things at once. */
export class StdioClient {
  readonly #program: Program
  readonly #waiting = new Map<number, (answer: z.output<typeof Answer>) => void>()
  #asked = 0

  constructor(program: Program) {
    this.#program = program
    createInterface(program.process.stdout).on('line', (line) => {
      const answer = Answer.parse(JSON.parse(line))
      if (typeof answer.id !== 'number') return
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
  }

  /** Answers with the result; fails when the program refuses or ends. */
  async ask(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = ++this.#asked
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
}

/** Does something, asking all the while whether the server is well: its longest answer to that, ms. */
export async function healthDuring(url: string, work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  const asking = async () => {
    while (!isOver) {
      const began = performance.now()
      const { status } = await fetch(new URL('/health', url))
      assert.equal(status, 200)
      longest = Math.max(longest, performance.now() - began)
      await sleep(20)
    }
  }
  const working = work().finally(() => {
    isOver = true
  })
  await Promise.all([working, asking()])
  return round(longest, 0)
}

/** Waits until something is so; fails when it is not after some seconds. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seconds = 20,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `Not after ${seconds} s: ${what}`)
    await sleep(50)
  }
}
