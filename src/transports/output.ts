import type { Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/**
 * What a client is sent over stdio, a line for each message. A client that does not read keeps a
 * bounded amount of it waiting: progress is not told meanwhile, and changes are told once, later.
 */
export class Output {
  readonly #stream: Writable
  #drain: Promise<void> | undefined
  /** Notifications for when the client reads again, by their text. */
  readonly #later = new Set<string>()

  readonly #mostUnread: number

  /** `mostUnread`: bytes that the client may leave unread. */
  constructor(stream: Writable, mostUnread: number) {
    this.#stream = stream
    this.#mostUnread = mostUnread
  }

  /** Whether the client has left so much unread that it is sent nothing more that can wait. */
  get isBehind(): boolean {
    return this.#stream.writableLength > this.#mostUnread
  }

  /** Resolves when the client reads; rejects when it is gone. */
  async write(message: JSONRPCMessage | readonly JSONRPCMessage[]): Promise<void> {
    if (this.isBehind && 'method' in message && !('id' in message)) {
      if (message.method !== 'notifications/progress') this.#later.add(JSON.stringify(message))
      return
    }
    return this.#put(JSON.stringify(message))
  }

  /** Calls back, once, when all that was sent has been read. */
  whenRead(then: () => void): void {
    this.#drained().then(then, () => undefined)
  }

  async #put(text: string): Promise<void> {
    if (!this.#stream.write(`${text}\n`)) await this.#drained()
  }

  /** One wait for all: thousands of listeners would take long to remove. */
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
