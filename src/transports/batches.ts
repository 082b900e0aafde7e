import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/** The only revision that has JSON-RPC batches. */
export const batchRevision = '2025-03-26'

/** Most messages of one batch, as over HTTP. */
const mostInBatch = 100

/** Why an array of messages is refused as a whole; `undefined` where it is a batch to serve. */
export function batchFault(
  messages: readonly unknown[],
  revision: string | undefined,
): string | undefined {
  if (revision !== batchRevision) return `Batches are for revision ${batchRevision} alone.`
  if (messages.length === 0) return 'A batch must not be empty.'
  if (messages.length > mostInBatch) return `A batch must not exceed ${mostInBatch} messages.`
  return undefined
}

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
