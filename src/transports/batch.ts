import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/** The answers to one batch: they are sent together, once the last of them is there. */
export class Batch {
  readonly #waiting: unknown[]
  readonly #answers: JSONRPCMessage[]

  constructor(ids: readonly unknown[], refusals: readonly JSONRPCMessage[]) {
    this.#waiting = [...ids]
    this.#answers = [...refusals]
  }

  /** Whether the request with this id was one of the batch, and still had no answer. */
  settle(id: unknown, answer?: JSONRPCMessage): boolean {
    const at = this.#waiting.indexOf(id)
    if (at < 0) return false
    this.#waiting.splice(at, 1)
    if (answer) this.#answers.push(answer)
    return true
  }

  /** What is to be sent, when there is nothing more to wait for; none where nothing was asked. */
  get complete(): readonly JSONRPCMessage[] | undefined {
    return this.#waiting.length === 0 ? this.#answers : undefined
  }
}
