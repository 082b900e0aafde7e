import type { Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { maxUnread } from './stdio.ts'

/** Longest message over stdio, bytes. Same as the MCP SDK's limit. */
const longestLine = 10 * 1024 * 1024

const newline = 0x0a

const tooLong = () =>
  Object.assign(new Error(`A message is longer than ${longestLine} bytes`), {
    code: 'MESSAGE_TOO_LONG',
  })

/** Splits the bytes of a stream into lines. */
export class Lines {
  #chunks: Buffer[] = []
  #size = 0

  #take(end: Buffer): Buffer {
    const line = this.#chunks.length === 0 ? end : Buffer.concat([...this.#chunks, end])
    this.#chunks = []
    this.#size = 0
    if (line.length > longestLine) throw tooLong()
    return line
  }

  /**
   * Yields the lines that this chunk completes, except blank lines. Throws if a line is too long.
   */
  *add(chunk: Buffer): Generator<string> {
    let rest = chunk
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      const line = this.#take(rest.subarray(0, at)).toString('utf8').trim()
      rest = rest.subarray(at + 1)
      if (line !== '') yield line
    }
    this.#size += rest.length
    if (this.#size > longestLine) throw tooLong()
    if (rest.length > 0) this.#chunks.push(rest)
  }
}

/**
 * Writes messages to a client over stdio, one line each. While the client does not read, progress
 * notifications are dropped. Other notifications are deduplicated and sent later.
 */
export class Output {
  readonly #stream: Writable
  #drain: Promise<void> | undefined
  /** Postponed notifications, as JSON text. */
  readonly #later = new Set<string>()

  constructor(stream: Writable) {
    this.#stream = stream
  }

  /** True if the unread bytes exceed the limit, so that notifications wait. */
  get isBehind(): boolean {
    return this.#stream.writableLength > maxUnread
  }

  /** Resolves when more may be written. Rejects when the client has disconnected. */
  async write(message: JSONRPCMessage | readonly JSONRPCMessage[]): Promise<void> {
    if (this.isBehind && 'method' in message && !('id' in message)) {
      if (message.method !== 'notifications/progress') this.#later.add(JSON.stringify(message))
      return
    }
    if (!this.#stream.write(`${JSON.stringify(message)}\n`)) await this.#drained()
  }

  /** Calls `then` once, when the client has read everything. */
  whenRead(then: () => void): void {
    this.#drained().then(then, () => undefined)
  }

  /** Shares one wait among all callers: removing thousands of listeners is slow. */
  #drained(): Promise<void> {
    this.#drain ??= new Promise<void>((resolve, reject) => {
      this.#stream.once('error', reject)
      this.#stream.once('drain', () => {
        this.#stream.off('error', reject)
        this.#drain = undefined
        for (const text of this.#later) this.#stream.write(`${text}\n`)
        this.#later.clear()
        resolve()
      })
    })
    return this.#drain
  }
}

/** Ids of unanswered requests. Ids may repeat, because some clients reuse them by mistake. */
export class Pending {
  readonly #counts = new Map<unknown, number>()
  #whenNone: (() => void) | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  add(id: unknown): void {
    this.#size++
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  delete(id: unknown): void {
    const count = this.#counts.get(id)
    if (count === undefined) return
    this.#size--
    const left = count - 1
    if (left > 0) this.#counts.set(id, left)
    else this.#counts.delete(id)
    if (this.#counts.size === 0) this.#whenNone?.()
  }

  /** Resolves when no request is unanswered. */
  settled(): Promise<void> {
    return this.#counts.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#whenNone = resolve
        })
  }
}

type Answers = readonly JSONRPCMessage[]

interface Batch {
  readonly waitingFor: unknown[]
  readonly answers: JSONRPCMessage[]
}

/** Batches of one connection. The answers to a batch are sent together, when the last one is ready. */
export class Batches {
  readonly #open = new Set<Batch>()

  /**
   * Opens a batch of requests with these ids. `errors`: error responses to invalid messages.
   * Returns the responses if no request is pending.
   */
  open(ids: readonly unknown[], errors: Answers): Answers | undefined {
    if (ids.length === 0) return errors
    this.#open.add({ waitingFor: [...ids], answers: [...errors] })
    return undefined
  }

  /**
   * Records the answer to a request, or without `answer` its cancellation. Returns `undefined` if
   * the request is in no batch, the answers to send if it was the last of its batch, otherwise an
   * empty list.
   */
  settle(id: unknown, answer?: JSONRPCMessage): Answers | undefined {
    for (const batch of this.#open) {
      const { waitingFor, answers } = batch
      const at = waitingFor.indexOf(id)
      if (at < 0) continue
      waitingFor.splice(at, 1)
      if (answer) answers.push(answer)
      if (waitingFor.length > 0) return []
      this.#open.delete(batch)
      return answers
    }
    return undefined
  }
}
