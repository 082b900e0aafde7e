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

  /** Takes one, to be released with the same values; returns the bound that is reached, if any. */
  take(key: string, network: string): BoundName | undefined {
    const { inAll, perKey, perAddress } = this.#bounds
    if (isReached(perKey, this.#byKey.get(key))) return 'perKey'
    if (isReached(perAddress, this.#byNetwork.get(network))) return 'perAddress'
    if (isReached(inAll, this.#inAll)) return 'inAll'
    this.#count(1, key, network)
    return undefined
  }

  release(key: string, network: string): void {
    this.#count(-1, key, network)
  }

  #count(by: 1 | -1, key: string, network: string): void {
    this.#inAll += by
    count(this.#byKey, key, by)
    count(this.#byNetwork, network, by)
  }
}

const isReached = (bound: number, held = 0) => bound > 0 && held >= bound

function count(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const held = (counts.get(name) ?? 0) + by
  if (held > 0) counts.set(name, held)
  else counts.delete(name)
}
