/*
 * ConcurrencyLimit bounds this process's concurrent requests to the platform. mapConcurrently
 * bounds concurrent work on the items of one list.
 */

/** Maximum concurrent requests to the platform. */
export interface ConcurrencyBounds {
  readonly inAll: number
  readonly perKey: number
  /** Maximum concurrent requests per client network; 0: no limit. */
  readonly perNetwork: number
}

export const defaultConcurrency: ConcurrencyBounds = { inAll: 128, perKey: 64, perNetwork: 0 }

/** The API key and the network that a request counts against. */
export interface Sender {
  readonly key: string
  /** Network of the client that caused the request; `undefined`: not known. */
  readonly network: string | undefined
}

interface Waiting {
  readonly network: Sender['network']
  readonly begin: () => void
}

interface Queue {
  underWay: number
  readonly waiting: Waiting[]
}

/**
 * Limits concurrent requests in total, per API key and per client network. Other requests wait in
 * order, round-robin over the API keys, so that a busy key does not delay the others.
 */
export class ConcurrencyLimit {
  readonly #bounds: ConcurrencyBounds
  #underWay = 0
  /** Waiting requests by API key. The first entry is served next. */
  readonly #queues = new Map<string, Queue>()
  /** Number of concurrent requests by client network. */
  readonly #networks = new Map<string, number>()

  constructor(bounds: ConcurrencyBounds) {
    this.#bounds = bounds
  }

  /**
   * Calls `begin` at once and returns `undefined`, or queues the request. In that case the returned
   * function removes the request from the queue.
   */
  acquire({ key, network }: Sender, begin: () => void): (() => void) | undefined {
    const queue = this.#queueOf(key)
    // A request within all limits starts at once. It delays no waiting request, because each of
    // those is held back by a limit.
    if (this.#hasCapacity(queue, network)) {
      this.#begin(queue, network)
      begin()
      return undefined
    }
    const waiting = { network, begin }
    queue.waiting.push(waiting)
    return () => {
      const at = queue.waiting.indexOf(waiting)
      if (at >= 0) queue.waiting.splice(at, 1)
      this.#removeIfEmpty(key, queue)
    }
  }

  /** Ends a request that was started. */
  release({ key, network }: Sender): void {
    const queue = this.#queueOf(key)
    queue.underWay--
    this.#underWay--
    this.#countNetwork(network, -1)
    this.#removeIfEmpty(key, queue)
    // A request that ends frees a slot of its API key and one of its network. Different requests
    // may wait for each, so two may start.
    while (this.#beginNext());
  }

  #beginNext(): boolean {
    for (const [key, queue] of this.#queues) {
      const at = queue.waiting.findIndex(({ network }) => this.#hasCapacity(queue, network))
      const [next] = at < 0 ? [] : queue.waiting.splice(at, 1)
      if (!next) continue
      this.#begin(queue, next.network)
      // Moves the API key to the end of the map, so that the other keys are served first.
      this.#queues.delete(key)
      this.#queues.set(key, queue)
      next.begin()
      return true
    }
    return false
  }

  #begin(queue: Queue, network: Sender['network']): void {
    queue.underWay++
    this.#underWay++
    this.#countNetwork(network, 1)
  }

  #hasCapacity({ underWay }: Queue, network: Sender['network']): boolean {
    const { inAll, perKey, perNetwork } = this.#bounds
    if (this.#underWay >= inAll || underWay >= perKey) return false
    if (network === undefined || perNetwork === 0) return true
    return (this.#networks.get(network) ?? 0) < perNetwork
  }

  #countNetwork(network: Sender['network'], by: 1 | -1): void {
    if (network === undefined) return
    const count = (this.#networks.get(network) ?? 0) + by
    if (count > 0) this.#networks.set(network, count)
    else this.#networks.delete(network)
  }

  #queueOf(key: string): Queue {
    const known = this.#queues.get(key)
    if (known) return known
    const queue: Queue = { underWay: 0, waiting: [] }
    this.#queues.set(key, queue)
    return queue
  }

  #removeIfEmpty(key: string, queue: Queue): void {
    if (queue.underWay === 0 && queue.waiting.length === 0) this.#queues.delete(key)
  }
}

/**
 * Runs `work` for all items, at most `concurrency` at a time. Results are in input order. After a
 * failure no further item starts, and the failure is thrown.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  // All workers share this iterator, so each item is taken once.
  const rest = items.entries()
  let hasFailed = false
  const worker = async () => {
    for (const [at, item] of rest) {
      if (hasFailed) return
      results[at] = await work(item).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  return results
}
