/** How many of something may be held at once; 0 bounds nothing. */
export interface Bounds {
  readonly inAll: number
  readonly perKey: number
  readonly perAddress: number
}

export type BoundName = keyof Bounds

/** Counts what is held, by API key, by client address and in all. */
export class Quota {
  readonly #bounds: Bounds
  readonly #byKey = new Map<string, number>()
  readonly #byAddress = new Map<string, number>()
  #inAll = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** The bound that is reached; `undefined`: one was taken, to be released with the same values. */
  take(key: string, address: string): BoundName | undefined {
    const { inAll, perKey, perAddress } = this.#bounds
    const network = networkOf(address)
    if (isReached(perKey, this.#byKey.get(key))) return 'perKey'
    if (isReached(perAddress, this.#byAddress.get(network))) return 'perAddress'
    if (isReached(inAll, this.#inAll)) return 'inAll'
    this.#count(1, key, network)
    return undefined
  }

  release(key: string, address: string): void {
    this.#count(-1, key, networkOf(address))
  }

  #count(by: 1 | -1, key: string, network: string): void {
    this.#inAll += by
    count(this.#byKey, key, by)
    count(this.#byAddress, network, by)
  }
}

const isReached = (bound: number, held = 0) => bound > 0 && held >= bound

function count(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const held = (counts.get(name) ?? 0) + by
  if (held > 0) counts.set(name, held)
  else counts.delete(name)
}

/** Whoever has one address of IPv6 has all that share its first 64 bits. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::')
  const first = head.split(':').filter(Boolean)
  if (tail === undefined) return first.slice(0, 4).join(':')
  const last = tail.split(':').filter(Boolean)
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return [...first, ...zeros, ...last].slice(0, 4).join(':')
}
