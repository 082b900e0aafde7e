import type { Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/** Longest message over stdio, bytes. The SDK has the same limit. */
const longestLine = 10 * 1024 * 1024

const newline = 0x0a

const tooLong = () =>
  Object.assign(new Error(`A message is longer than ${longestLine} bytes`), {
    code: 'MESSAGE_TOO_LONG',
  })

/** Splits chunks into lines. */
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

  /** The lines that this chunk completes, without blank lines. Throws if a line is too long. */
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
 * Writes messages to a client over stdio, one line each. While a client does not read, little waits
 * for it: progress notifications are dropped, and other notifications are sent once, later.
 */
export class Output {
  readonly #stream: Writable
  readonly #maxUnread: number
  #drain: Promise<void> | undefined
  /** Notifications to send when the client reads again, as JSON text. */
  readonly #later = new Set<string>()

  /** `maxUnread`: bytes that the client may leave unread. */
  constructor(stream: Writable, maxUnread: number) {
    this.#stream = stream
    this.#maxUnread = maxUnread
  }

  /** Whether the client has left so much unread that notifications wait. */
  get isBehind(): boolean {
    return this.#stream.writableLength > this.#maxUnread
  }

  /** Resolves when more can be written; rejects when the client is gone. */
  async write(message: JSONRPCMessage | readonly JSONRPCMessage[]): Promise<void> {
    if (this.isBehind && 'method' in message && !('id' in message)) {
      if (message.method !== 'notifications/progress') this.#later.add(JSON.stringify(message))
      return
    }
    if (!this.#stream.write(`${JSON.stringify(message)}\n`)) await this.#drained()
  }

  /** Calls back once, when the client has read everything. */
  whenRead(then: () => void): void {
    this.#drained().then(then, () => undefined)
  }

  /** All callers share one wait: it takes long to remove thousands of listeners. */
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

/** Ids of requests that are not answered yet. A client may use an id twice by mistake. */
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

/** The batches of one connection. The answers to a batch are sent together, with the last of them. */
export class Batches {
  readonly #open = new Set<Batch>()

  /**
   * Opens a batch of requests with these ids. `errors` are the answers to its invalid messages.
   * Returns the answers if no request has to be waited for.
   */
  open(ids: readonly unknown[], errors: Answers): Answers | undefined {
    if (ids.length === 0) return errors
    this.#open.add({ waitingFor: [...ids], answers: [...errors] })
    return undefined
  }

  /**
   * Settles the request with this id, with its answer unless it is cancelled. Returns `undefined` if
   * the request belongs to no batch; else the answers that are to be sent now, or an empty list.
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
