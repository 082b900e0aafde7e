/*
 * How much runs at once: the requests of all keys to the platform, and the items of one fan-out.
 */

/** How many requests to the platform may be under way at once. */
export interface ConcurrencyBounds {
  readonly inAll: number
  readonly perKey: number
  /** With one client network; 0 means no limit. */
  readonly perNetwork: number
}

export const defaultConcurrency: ConcurrencyBounds = { inAll: 128, perKey: 64, perNetwork: 0 }

/** The key and the network that a request counts for. */
export interface Sender {
  readonly key: string
  /** The network of the client that the request is for; `undefined`: it is not known. */
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
 * Limits the requests that are under way at once: in all, with one key, and for one client network.
 * Further requests wait, in order. The keys take turns, so that a key with many requests does not
 * keep the others waiting.
 */
export class ConcurrencyLimit {
  readonly #bounds: ConcurrencyBounds
  #underWay = 0
  /** By key; the key whose turn is next is the first. */
  readonly #queues = new Map<string, Queue>()
  /** Requests under way by client network. */
  readonly #networks = new Map<string, number>()

  constructor(bounds: ConcurrencyBounds) {
    this.#bounds = bounds
  }

  /** Calls `begin` now or later. While the request waits, the result takes it out of the queue. */
  acquire({ key, network }: Sender, begin: () => void): (() => void) | undefined {
    const queue = this.#queueOf(key)
    // What waits is at a limit, so a request that is not at one passes nothing that could begin.
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

  /** Ends a request that has begun. */
  release({ key, network }: Sender): void {
    const queue = this.#queueOf(key)
    queue.underWay--
    this.#underWay--
    this.#countNetwork(network, -1)
    this.#removeIfEmpty(key, queue)
    // Room for this key and room for this network may let two different requests begin.
    while (this.#beginNext());
  }

  #beginNext(): boolean {
    for (const [key, queue] of this.#queues) {
      const at = queue.waiting.findIndex(({ network }) => this.#hasCapacity(queue, network))
      const [next] = at < 0 ? [] : queue.waiting.splice(at, 1)
      if (!next) continue
      this.#begin(queue, next.network)
      // At the end of the map: the other keys come first next time.
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
 * The results of `work` for all items, in their order; at most `concurrency` are under way at a time. After
 * a failure nothing more begins, and the failure is thrown.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  // All workers take from the same iterator, so each item is taken once.
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
