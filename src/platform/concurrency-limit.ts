/** Maximum concurrent requests to the platform. */
export interface ConcurrencyBounds {
  readonly inAll: number
  readonly perKey: number
  /** Maximum concurrent requests per client network; 0: no limit. */
  readonly perNetwork: number
}

/** The API key and the client network that a request counts against. */
export interface Requester {
  readonly key: string
  /** Network of the client that caused the request; `undefined`: not known. */
  readonly network: string | undefined
}

interface Waiting {
  readonly network: Requester['network']
  readonly begin: () => void
}

/** Requests with one API key. */
interface Queue {
  inFlight: number
  readonly waiting: Waiting[]
}

/**
 * Limits this process's concurrent requests to the platform: in total, per API key and per client
 * network. Requests above a limit wait in order, round-robin over the API keys, so that a busy key
 * does not delay the others.
 */
export class ConcurrencyLimit {
  readonly #bounds: ConcurrencyBounds
  #inFlight = 0
  /** Waiting requests by API key. The first entry is served next. */
  readonly #queues = new Map<string, Queue>()
  /** Number of concurrent requests by client network. */
  readonly #networks = new Map<string, number>()

  constructor(bounds: ConcurrencyBounds) {
    this.#bounds = bounds
  }

  /**
   * Calls `begin` at once and returns `undefined`; or queues the request, and returns the function
   * that removes it from the queue.
   */
  acquire({ key, network }: Requester, begin: () => void): (() => void) | undefined {
    const queue = this.#queueOf(key)
    // A request within all limits starts at once. It delays no waiting request, because a limit
    // holds each of those back.
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
  release({ key, network }: Requester): void {
    const queue = this.#queueOf(key)
    queue.inFlight--
    this.#inFlight--
    this.#countNetwork(network, -1)
    this.#removeIfEmpty(key, queue)
    // A request that ends frees a slot of its API key and a slot of its network. Two different
    // requests may wait for these slots, so two may start.
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

  #begin(queue: Queue, network: Requester['network']): void {
    queue.inFlight++
    this.#inFlight++
    this.#countNetwork(network, 1)
  }

  #hasCapacity({ inFlight }: Queue, network: Requester['network']): boolean {
    const { inAll, perKey, perNetwork } = this.#bounds
    if (this.#inFlight >= inAll || inFlight >= perKey) return false
    if (network === undefined || perNetwork === 0) return true
    return (this.#networks.get(network) ?? 0) < perNetwork
  }

  #countNetwork(network: Requester['network'], by: 1 | -1): void {
    if (network === undefined) return
    const count = (this.#networks.get(network) ?? 0) + by
    if (count > 0) this.#networks.set(network, count)
    else this.#networks.delete(network)
  }

  #queueOf(key: string): Queue {
    const known = this.#queues.get(key)
    if (known) return known
    const queue: Queue = { inFlight: 0, waiting: [] }
    this.#queues.set(key, queue)
    return queue
  }

  #removeIfEmpty(key: string, queue: Queue): void {
    if (queue.inFlight === 0 && queue.waiting.length === 0) this.#queues.delete(key)
  }
}
