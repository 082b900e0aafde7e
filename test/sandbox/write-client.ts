import * as z from 'zod'
import { sandboxKeys, seedIds } from '../../src/sandbox/seed.ts'
import { randomOf } from '../labs/random.ts'

/** A write request. */
export interface Write {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: Record<string, unknown>
}

const Created = z.looseObject({ id: z.string() })

/** A client of the sandbox that sends random writes, one at a time, and keeps the replies. */
export class WriteClient {
  /** Last reply of each existing object, by path. */
  readonly kept = new Map<string, Record<string, unknown>>()
  /** Paths of deleted objects. */
  readonly gone = new Set<string>()
  /** Replies that refused a write; should be empty. */
  readonly refused: string[] = []
  /** The last request, if it got no reply. */
  unanswered: Write | undefined
  readonly #name: string
  readonly #random: () => number
  #count = 0

  constructor(name: string, seed: number) {
    this.#name = name
    this.#random = randomOf(seed)
  }

  /** Sends writes until the connection to the program breaks. */
  async writeUntilCut(url: string): Promise<void> {
    try {
      for (;;) await this.#write(url, this.#next())
    } catch (error) {
      // `fetch` reports a broken connection as a TypeError with a cause.
      if (!(error instanceof TypeError && error.cause)) throw error
    }
  }

  async #write(url: string, write: Write): Promise<void> {
    this.unanswered = write
    const response = await fetch(`${url}/v1/${write.path}`, {
      method: write.method,
      headers: { 'x-api-key': sandboxKeys.main },
      ...(write.body && { body: JSON.stringify(write.body) }),
    })
    const text = await response.text()
    this.unanswered = undefined
    if (!response.ok) this.refused.push(`${write.method} ${write.path}: ${text}`)
    else if (write.method === 'DELETE') this.#forget(write.path)
    else this.#remember(write, Created.parse(JSON.parse(text)))
  }

  #remember({ method, path }: Write, reply: z.output<typeof Created>): void {
    this.kept.set(method === 'POST' ? `${path}/${reply.id}` : path, reply)
  }

  #forget(path: string): void {
    this.kept.delete(path)
    this.gone.add(path)
  }

  #next(): Write {
    this.#count++
    const agents = this.#paths('agents')
    const numbers = this.#paths('phone-numbers')
    const agent = this.#one(agents)
    const number = this.#one(numbers)
    const kind = this.#random()
    if (agent === undefined || kind < 0.3) return this.#createAgent()
    if (kind < 0.5) return { method: 'PATCH', path: agent, body: this.#mark() }
    if (kind < 0.75) return this.#call(idIn(agent))
    if (number === undefined || kind < 0.9) return this.#createNumber(idIn(agent))
    return { method: 'DELETE', path: number }
  }

  #paths(noun: string): string[] {
    return [...this.kept.keys()].filter((path) => path.includes(`/${noun}/`))
  }

  #one(paths: string[]): string | undefined {
    return paths[Math.floor(this.#random() * paths.length)]
  }

  /** Three fields of an agent that always change together. */
  #mark() {
    const mark = `${this.#name}-${this.#count}`
    return { note: mark, tags: [mark], metadata: { mark } }
  }

  #createAgent(): Write {
    const body = {
      ...this.#mark(),
      name: `${this.#name}-${this.#count}`,
      model: { provider: 'openai', model: 'gpt-4.1' },
      transcriber: { provider: 'deepgram', model: 'nova-2:general' },
      voice: { provider: 'elevenlabs', voice_id: 'sbx-el-ada' },
    }
    return { method: 'POST', path: 'accounts/me/agents', body }
  }

  #createNumber(agent: string): Write {
    const number = `+49${String(30_000_000_000 + Math.floor(this.#random() * 1e9))}`
    const body = { number, name: 'A', sip_trunk_id: seedIds.trunk, inbound_agent_id: agent }
    return { method: 'POST', path: 'accounts/me/phone-numbers', body }
  }

  #call(agent: string): Write {
    const external_id = `${this.#name}-${this.#count}`
    return {
      method: 'POST',
      path: 'accounts/me/calls',
      body: { type: 'web', agent_id: agent, external_id },
    }
  }
}

const idIn = (path: string) => path.slice(path.lastIndexOf('/') + 1)
