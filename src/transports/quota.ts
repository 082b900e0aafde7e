/** How many of something may be held at once; 0 means no limit. */
export interface Bounds {
  readonly inAll: number
  readonly perKey: number
  readonly perAddress: number
}

export type BoundName = keyof Bounds

/** Counts what is held, by API key, by client network and in all. */
export class Quota {
  readonly #bounds: Bounds
  readonly #byKey = new Map<string, number>()
  readonly #byNetwork = new Map<string, number>()
  #inAll = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /**
   * Takes so many, all or none, to be released with the same values; returns the bound that does not
   * allow it, if any.
   */
  take(key: string, network: string, wanted = 1): BoundName | undefined {
    if (wanted === 0) return undefined
    const { inAll, perKey, perAddress } = this.#bounds
    if (isExceeded(perKey, wanted, this.#byKey.get(key))) return 'perKey'
    if (isExceeded(perAddress, wanted, this.#byNetwork.get(network))) return 'perAddress'
    if (isExceeded(inAll, wanted, this.#inAll)) return 'inAll'
    this.#count(wanted, key, network)
    return undefined
  }

  release(key: string, network: string, taken = 1): void {
    this.#count(-taken, key, network)
  }

  #count(by: number, key: string, network: string): void {
    this.#inAll += by
    count(this.#byKey, key, by)
    count(this.#byNetwork, network, by)
  }
}

const isExceeded = (bound: number, wanted: number, held = 0) => bound > 0 && held + wanted > bound

function count(counts: Map<string, number>, name: string, by: number): void {
  const held = (counts.get(name) ?? 0) + by
  if (held > 0) counts.set(name, held)
  else counts.delete(name)
}
