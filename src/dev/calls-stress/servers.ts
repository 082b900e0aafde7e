import { setTimeout as sleep } from 'node:timers/promises'
import { type CallToolResult, Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'

/** What a client was told of a placement. */
export type Answer =
  | { readonly kind: 'placed' | 'repeated'; readonly callId: string }
  | { readonly kind: 'unknown'; readonly text: string }
  | { readonly kind: 'refused'; readonly why: string; readonly text: string }
  /** Nothing: the server was killed. */
  | { readonly kind: 'dead' }

const Placed = z.looseObject({ id: z.string(), repeated: z.boolean() })
const Failed = z.looseObject({ 'voice-agent-mcp/error': z.looseObject({ kind: z.string() }) })
const Text = z.looseObject({ text: z.string() })

/** The program over stdio, killed and started again while its client goes on asking. */
export class Server implements AsyncDisposable {
  kills = 0
  readonly #program: string
  readonly #env: Record<string, string>
  #transport: StdioClientTransport | undefined
  #client: Promise<Client>

  constructor(program: string, env: Record<string, string>) {
    this.#program = program
    this.#env = env
    this.#client = this.#start()
  }

  /** Calls place_call. Throws when there is no answer although the server was not killed. */
  async place(args: Record<string, unknown>): Promise<Answer> {
    const client = await this.#client
    const { kills } = this
    try {
      return answerOf(await client.callTool({ name: 'place_call', arguments: args }))
    } catch (error) {
      if (this.kills === kills) throw error
      return { kind: 'dead' }
    }
  }

  /** Kills it again and again, each time after a random while, until the signal fires. */
  async suffer(everyMs: number, random: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(2 * everyMs * random(), undefined, { signal }).catch(() => undefined)
      await this.#client
      if (!signal.aborted) await this.#restart()
    }
  }

  async #restart(): Promise<void> {
    this.kills++
    const pid = this.#transport?.pid
    if (pid) process.kill(pid, 'SIGKILL')
    this.#client = this.#start()
    await this.#client
  }

  async #start(): Promise<Client> {
    const client = new Client(
      { name: 'stress', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    this.#transport = new StdioClientTransport({
      command: process.execPath,
      args: [this.#program],
      env: this.#env,
      stderr: 'ignore',
    })
    await client.connect(this.#transport)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#client).close()
  }
}

function answerOf({ isError, structuredContent, content, _meta }: CallToolResult): Answer {
  if (!isError) {
    const { id, repeated } = Placed.parse(structuredContent)
    return { kind: repeated ? 'repeated' : 'placed', callId: id }
  }
  const { text } = Text.parse(content[0])
  const { kind } = Failed.parse(_meta)['voice-agent-mcp/error']
  return kind === 'unknown_outcome'
    ? { kind: 'unknown', text }
    : { kind: 'refused', why: kind, text }
}
