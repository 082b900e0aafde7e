import type { Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/**
 * Writes messages to a client over stdio, one line each. While a client does not read, little waits
 * for it: progress notifications are dropped, and other notifications are sent once, later.
 */
export class Output {
  readonly #stream: Writable
  #drain: Promise<void> | undefined
  /** Notifications to send when the client reads again, as JSON text. */
  readonly #later = new Set<string>()

  readonly #mostUnread: number

  /** `mostUnread`: bytes that the client may leave unread. */
  constructor(stream: Writable, mostUnread: number) {
    this.#stream = stream
    this.#mostUnread = mostUnread
  }

  /** Whether the client has left so much unread that notifications wait. */
  get isBehind(): boolean {
    return this.#stream.writableLength > this.#mostUnread
  }

  /** Resolves when more can be written; rejects when the client is gone. */
  async write(message: JSONRPCMessage | readonly JSONRPCMessage[]): Promise<void> {
    if (this.isBehind && 'method' in message && !('id' in message)) {
      if (message.method !== 'notifications/progress') this.#later.add(JSON.stringify(message))
      return
    }
    return this.#put(JSON.stringify(message))
  }

  /** Calls back once, when the client has read everything. */
  whenRead(then: () => void): void {
    this.#drained().then(then, () => undefined)
  }

  async #put(text: string): Promise<void> {
    if (!this.#stream.write(`${text}\n`)) await this.#drained()
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
