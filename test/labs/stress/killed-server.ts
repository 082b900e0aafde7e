import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { ToolResult } from '../../harness/client.ts'
import { type Program, startProcess } from '../../harness/program.ts'
import { StdioClient } from '../measure/stdio-client.ts'
import { textOf } from '../measure/tool-call.ts'

/** What a client learns of a request to place a call. */
export type Answer =
  | { readonly kind: 'placed'; readonly callId: string; readonly isRepeat: boolean }
  | { readonly kind: 'unknown'; readonly text: string }
  | { readonly kind: 'refused'; readonly why: string; readonly text: string }
  /** No answer: the server was killed. */
  | { readonly kind: 'dead' }

/** Something that places calls: a server, or several behind one address. */
export interface CallPlacer {
  place(args: Record<string, unknown>): Promise<Answer>
}

const PlacedCall = z.looseObject({ id: z.string(), repeated: z.boolean() })
const FailureMeta = z.looseObject({ 'voice-agent-mcp/error': z.looseObject({ kind: z.string() }) })

/** The program over stdio, which is killed and started again while its client sends requests. */
export class KilledServer implements CallPlacer, AsyncDisposable {
  kills = 0
  readonly #command: readonly string[]
  readonly #env: Record<string, string>
  #program: Program
  #client: StdioClient

  constructor(program: string, env: Record<string, string>) {
    this.#command = [process.execPath, program]
    this.#env = env
    this.#program = startProcess(this.#command, this.#env)
    this.#client = new StdioClient(this.#program)
  }

  /** Calls place_call. Throws when there is no answer although the server was not killed. */
  async place(args: Record<string, unknown>): Promise<Answer> {
    const { kills } = this
    try {
      return answerOf(await this.#client.callTool('place_call', args))
    } catch (error) {
      if (this.kills === kills) throw error
      return { kind: 'dead' }
    }
  }

  /** Kills the program again and again, on average once in `everyMs`, until the signal fires. */
  async killRepeatedly(everyMs: number, random: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(2 * everyMs * random(), undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) this.#restart()
    }
  }

  #restart(): void {
    this.kills++
    this.#program.process.kill('SIGKILL')
    this.#program = startProcess(this.#command, this.#env)
    this.#client = new StdioClient(this.#program)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }
}

/** What a result of place_call says. */
export function answerOf(result: ToolResult): Answer {
  if (!result.isError) {
    const { id, repeated } = PlacedCall.parse(result.structuredContent)
    return { kind: 'placed', callId: id, isRepeat: repeated }
  }
  const text = textOf(result)
  const { kind } = FailureMeta.parse(result._meta)['voice-agent-mcp/error']
  return kind === 'unknown_outcome'
    ? { kind: 'unknown', text }
    : { kind: 'refused', why: kind, text }
}
