/** How many requests to the platform may be under way at once. */
export interface TurnBounds {
  readonly inAll: number
  readonly perKey: number
}

export const defaultTurns: TurnBounds = { inAll: 128, perKey: 64 }

interface Queue {
  busy: number
  readonly waiting: (() => void)[]
}

/**
 * Lets so many requests of each key, and in all, be under way at once. Others wait, each key's in
 * the order in which they came; what becomes free goes to the keys in turn, so that one with many
 * requests does not keep the others waiting.
 */
export class Turns {
  readonly #bounds: TurnBounds
  #busy = 0
  /** By key; those whose turn is next come first. */
  readonly #queues = new Map<string, Queue>()

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds
  }

  /** Calls back when it is the key's turn: now or later. Gives what takes a waiting one out. */
  take(key: string, begin: () => void): (() => void) | undefined {
    const queue = this.#queueOf(key)
    if (this.#isFree(queue) && queue.waiting.length === 0) {
      this.#begin(queue)
      begin()
      return undefined
    }
    queue.waiting.push(begin)
    return () => {
      const at = queue.waiting.indexOf(begin)
      if (at >= 0) queue.waiting.splice(at, 1)
      this.#tidy(key, queue)
    }
  }

  /** Ends a turn that had begun. */
  release(key: string): void {
    const queue = this.#queueOf(key)
    queue.busy--
    this.#busy--
    this.#tidy(key, queue)
    this.#next()
  }

  #next(): void {
    for (const [key, queue] of this.#queues) {
      if (!this.#isFree(queue)) continue
      const begin = queue.waiting.shift()
      if (!begin) continue
      this.#begin(queue)
      // To the end: the others come first next time.
      this.#queues.delete(key)
      this.#queues.set(key, queue)
      begin()
      return
    }
  }

  #begin(queue: Queue): void {
    queue.busy++
    this.#busy++
  }

  #isFree({ busy }: Queue): boolean {
    return this.#busy < this.#bounds.inAll && busy < this.#bounds.perKey
  }

  #queueOf(key: string): Queue {
    const known = this.#queues.get(key)
    if (known) return known
    const queue: Queue = { busy: 0, waiting: [] }
    this.#queues.set(key, queue)
    return queue
  }

  #tidy(key: string, queue: Queue): void {
    if (queue.busy === 0 && queue.waiting.length === 0) this.#queues.delete(key)
  }
}
