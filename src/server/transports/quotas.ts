import { hash } from 'node:crypto'

/** The same limit for all clients together, per API key and per client address; 0: no limit. */
export interface Bounds {
  readonly inAll: number
  readonly perKey: number
  readonly perAddress: number
}

export type BoundName = keyof Bounds

/** The limits in the order in which they are checked, each with the name that it counts by. */
const namesOf = (key: string, network: string): readonly (readonly [BoundName, string])[] => [
  ['perKey', key],
  ['perAddress', network],
  ['inAll', ''],
]

const minuteMs = 60_000

/** Tolerance for rounding errors in sums, ms. */
const roundingMs = 0.001

/** Maximum remembered names per bound, such as API keys: about 10 MB. */
const maxRemembered = 100_000

/** An exceeded bound. `forMs`: time until it allows the next request, ms. */
export interface Exceeded {
  readonly bound: BoundName
  readonly forMs: number
}

export interface RatedRequest {
  readonly key: string
  readonly network: string
  /** Number of messages of a batch, otherwise 1. */
  readonly count: number
}

/** Limits requests per minute by API key, by client network and in total. */
export class Rate {
  readonly #rateLimits: Readonly<Record<BoundName, RateLimits>>
  readonly #isLimited: boolean

  /** Bounds are requests per minute on average; a whole minute's requests may come in one burst. */
  constructor({ inAll, perKey, perAddress }: Bounds) {
    this.#rateLimits = {
      perKey: new RateLimits(perKey),
      perAddress: new RateLimits(perAddress),
      inAll: new RateLimits(inAll),
    }
    this.#isLimited = Object.values(this.#rateLimits).some(({ isLimited }) => isLimited)
  }

  /** Counts a request. If a bound is exceeded, counts nothing and returns that bound. */
  take({ key, network, count }: RatedRequest, now = performance.now()): Exceeded | undefined {
    if (!this.#isLimited) return undefined
    // API keys have any length; a hash takes the same memory for each.
    const names = namesOf(
      this.#rateLimits.perKey.isLimited ? hash('sha256', key, 'base64url') : '',
      network,
    )
    for (const [bound, name] of names) {
      const forMs = this.#rateLimits[bound].waitMs(name, now)
      if (forMs > 0) return { bound, forMs }
    }
    for (const [bound, name] of names) this.#rateLimits[bound].spend(name, count, now)
    return undefined
  }
}

/**
 * Spends one unit of each of several quotas. If one is used up, spends nothing and returns the time
 * until all have a unit again, ms.
 */
export function spend(...spent: readonly (readonly [RateLimits, name: string])[]): number {
  const now = performance.now()
  const waitMs = Math.max(...spent.map(([rateLimits, name]) => rateLimits.waitMs(name, now)))
  if (waitMs > 0) return waitMs
  for (const [rateLimits, name] of spent) rateLimits.spend(name, 1, now)
  return 0
}

/**
 * A rate limit for each name, by the generic cell rate algorithm: the quota of a minute refills
 * evenly. A name is remembered until its quota is full again. With too many names, those nearest to
 * full are evicted first, so that inventing names cannot restore a used-up quota.
 */
export class RateLimits {
  readonly #perMinute: number
  readonly #max: number
  /** Time at which the quota of each name is full again, ms by the clock of `now`. */
  readonly #fullAt = new Map<string, number>()

  constructor(perMinute: number, max = maxRemembered) {
    this.#perMinute = perMinute
    this.#max = max
  }

  get isLimited(): boolean {
    return this.#perMinute > 0
  }

  get remembered(): number {
    return this.#fullAt.size
  }

  /** Time until the next request of the name is allowed, ms; 0: now. */
  waitMs(name: string, now: number): number {
    if (!this.isLimited) return 0
    const used = Math.max(0, (this.#fullAt.get(name) ?? 0) - now)
    const wait = used + minuteMs / this.#perMinute - minuteMs
    return wait > roundingMs ? wait : 0
  }

  /** Spends units. The quota may be overdrawn, which lengthens the wait. */
  spend(name: string, count: number, now: number): void {
    if (!this.isLimited) return
    const fullAt = this.#fullAt.get(name)
    if (fullAt === undefined && this.#fullAt.size >= this.#max) this.#forget(now)
    this.#fullAt.set(name, Math.max(now, fullAt ?? 0) + (count * minuteMs) / this.#perMinute)
  }

  /** Evicts at least half of the names, those nearest to full, so that evictions are rare. */
  #forget(now: number): void {
    const times = Float64Array.from(this.#fullAt.values()).sort()
    const middle = times[Math.ceil(times.length / 2) - 1] ?? now
    const last = Math.max(now, middle)
    for (const [name, fullAt] of this.#fullAt) if (fullAt <= last) this.#fullAt.delete(name)
  }
}

/** Limits concurrency by API key, by client network and in total. */
export class Quota {
  readonly #bounds: Bounds
  readonly #held = {
    perKey: new Map<string, number>(),
    perAddress: new Map<string, number>(),
    inAll: new Map<string, number>(),
  }

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /**
   * Takes `wanted` units, all or none, to be released with the same arguments. Returns the exceeded
   * bound, if any.
   */
  take(key: string, network: string, wanted = 1): BoundName | undefined {
    for (const [bound, name] of namesOf(key, network)) {
      const max = this.#bounds[bound]
      if (max > 0 && (this.#held[bound].get(name) ?? 0) + wanted > max) return bound
    }
    this.#count(key, network, wanted)
    return undefined
  }

  release(key: string, network: string, taken = 1): void {
    this.#count(key, network, -taken)
  }

  #count(key: string, network: string, by: number): void {
    for (const [bound, name] of namesOf(key, network)) {
      const counts = this.#held[bound]
      const held = (counts.get(name) ?? 0) + by
      if (held > 0) counts.set(name, held)
      else counts.delete(name)
    }
  }
}

/**
 * The network under which a client address is counted: the IPv4 address itself, or the first 64
 * bits of an IPv6 address, the smallest assignment to a customer (RFC 6177).
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::')
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  const groups = [...first, ...zeros, ...last]
  return isIpv4(groups) ? groups.join(':') : groups.slice(0, 4).join(':')
}

/** True for IPv4-mapped IPv6 (RFC 4291 §2.5.5.2): the last two groups are the IPv4 address. */
const isIpv4 = (groups: readonly string[]) => groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'

/**
 * Normalized groups of an IPv6 address: proxies also write capitals and leading zeros (RFC 5952
 * §2).
 */
const groupsOf = (part: string): string[] =>
  part
    .split(':')
    .filter(Boolean)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
