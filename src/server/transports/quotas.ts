import { hash } from 'node:crypto'

/** How many of something are allowed; 0 means no limit. */
export interface Bounds {
  readonly inAll: number
  readonly perKey: number
  readonly perAddress: number
}

export type BoundName = keyof Bounds

/** What each bound counts by, in the order in which they are checked. */
const namesOf = (key: string, network: string): readonly (readonly [BoundName, string])[] => [
  ['perKey', key],
  ['perAddress', network],
  ['inAll', ''],
]

const minuteMs = 60_000

/** Sums of fractions of a minute are not exact. */
const roundingMs = 0.001

/** Most keys, and most networks, whose requests are remembered: some 10 MB of each. */
const maxRemembered = 100_000

/** A bound that is reached, and for how long. */
export interface Exceeded {
  readonly bound: BoundName
  readonly forMs: number
}

export interface RatedRequest {
  readonly key: string
  readonly network: string
  /** How many requests it counts as: the messages of a batch, otherwise 1. */
  readonly count: number
}

/** Limits requests a minute by API key, by client network and in all. */
export class Rate {
  readonly #rateLimits: Readonly<Record<BoundName, RateLimits>>
  readonly #isLimited: boolean

  /** Requests a minute, on average; as many may come at once. 0 means no limit. */
  constructor({ inAll, perKey, perAddress }: Bounds) {
    this.#rateLimits = {
      perKey: new RateLimits(perKey),
      perAddress: new RateLimits(perAddress),
      inAll: new RateLimits(inAll),
    }
    this.#isLimited = Object.values(this.#rateLimits).some(({ isLimited }) => isLimited)
  }

  /** Counts a request; returns the bound that is reached, if any, and then counts nothing. */
  take({ key, network, count }: RatedRequest, now = performance.now()): Exceeded | undefined {
    if (!this.#isLimited) return undefined
    // By its hash a key takes little room, however long it is.
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
 * Counts one for each name. Where some have used up their allowance, counts nothing, and gives the time
 * until all have one again, ms.
 */
export function spend(...spent: readonly (readonly [RateLimits, name: string])[]): number {
  const now = performance.now()
  const waitMs = Math.max(...spent.map(([rateLimits, name]) => rateLimits.waitMs(name, now)))
  if (waitMs > 0) return waitMs
  for (const [rateLimits, name] of spent) rateLimits.spend(name, 1, now)
  return 0
}

/**
 * An allowance for each name, which fills evenly within a minute (the generic cell rate algorithm).
 * A name is remembered until its allowance is full again. Where there are too many, those that are
 * nearest to full are forgotten first: a name that has used up its allowance has to wait, however many
 * others come.
 */
export class RateLimits {
  readonly #perMinute: number
  readonly #max: number
  /** When the allowance of each name is full again, by the clock of the caller, ms. */
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

  /** Time until one more is allowed, ms; 0: it is allowed now. */
  waitMs(name: string, now: number): number {
    if (!this.isLimited) return 0
    const used = Math.max(0, (this.#fullAt.get(name) ?? 0) - now)
    const wait = used + minuteMs / this.#perMinute - minuteMs
    return wait > roundingMs ? wait : 0
  }

  /** What is spent beyond the allowance is waited for later. */
  spend(name: string, count: number, now: number): void {
    if (!this.isLimited) return
    const fullAt = this.#fullAt.get(name)
    if (fullAt === undefined && this.#fullAt.size >= this.#max) this.#forget(now)
    this.#fullAt.set(name, Math.max(now, fullAt ?? 0) + (count * minuteMs) / this.#perMinute)
  }

  /** Makes room for at least as many as stay, so that it happens seldom. */
  #forget(now: number): void {
    const times = Float64Array.from(this.#fullAt.values()).sort()
    const middle = times[Math.ceil(times.length / 2) - 1] ?? now
    const last = Math.max(now, middle)
    for (const [name, fullAt] of this.#fullAt) if (fullAt <= last) this.#fullAt.delete(name)
  }
}

/** Counts what is held, by API key, by client network and in all. */
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
   * Takes so many, all or none, to be released with the same values; returns the bound that does not
   * allow it, if any.
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
 * The network of a client, by which its requests are counted: its address, or of an IPv6 address
 * the first 64 bits, which one customer of a provider has at least (RFC 6177).
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

/** IPv4 in IPv6 (RFC 4291 §2.5.5.2): the last two groups are the address. */
const isIpv4 = (groups: readonly string[]) => groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'

/** Groups of an IPv6 address in one form: proxies write capitals and zeros in front, too (RFC 5952 §2). */
const groupsOf = (part: string): string[] =>
  part
    .split(':')
    .filter(Boolean)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
