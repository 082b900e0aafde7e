import type { JSONRPCMessage } from '@modelcontextprotocol/server'

type Answers = readonly JSONRPCMessage[]

/** The batches of one connection. The answers to a batch are sent together, with the last of them. */
export class Batches {
  readonly #open = new Set<Batch>()

  /**
   * Opens a batch of requests with these ids. `errors` are the answers to its invalid messages.
   * Returns the answers if no request has to be waited for.
   */
  open(ids: readonly unknown[], errors: Answers): Answers | undefined {
    const batch = new Batch(ids, errors)
    this.#open.add(batch)
    return this.#finished(batch)
  }

  /**
   * Settles the request with this id, with its answer unless it is cancelled. Returns `undefined` if
   * the request belongs to no batch; else the answers that are to be sent now, or an empty list.
   */
  settle(id: unknown, answer?: JSONRPCMessage): Answers | undefined {
    const batch = [...this.#open].find((one) => one.settle(id, answer))
    return batch && (this.#finished(batch) ?? [])
  }

  #finished(batch: Batch): Answers | undefined {
    if (!batch.isComplete) return undefined
    this.#open.delete(batch)
    return batch.answers
  }
}

class Batch {
  readonly #waitingFor: unknown[]
  readonly answers: JSONRPCMessage[]

  constructor(ids: readonly unknown[], errors: Answers) {
    this.#waitingFor = [...ids]
    this.answers = [...errors]
  }

  /** False if the batch does not wait for an answer with this id. */
  settle(id: unknown, answer?: JSONRPCMessage): boolean {
    const at = this.#waitingFor.indexOf(id)
    if (at < 0) return false
    this.#waitingFor.splice(at, 1)
    if (answer) this.answers.push(answer)
    return true
  }

  get isComplete(): boolean {
    return this.#waitingFor.length === 0
  }
}
