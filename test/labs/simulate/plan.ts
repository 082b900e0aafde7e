import { documented, type Listing } from '../platform/call-lists.ts'
import { faultyPost, type Reaction } from '../platform/reaction.ts'
import { pick, randomOf } from '../random.ts'

/*
 * The plan of a history: everything that is decided before it begins. Equal plans and seeds give
 * equal histories.
 */

/** A request of a client. */
export interface PlannedRequest {
  readonly at: number
  readonly server: number
  /** Time after which the client cancels the request, ms after `at`. */
  readonly cancelledAfter?: number | undefined
}

/** A telephone call that a client wants placed exactly once. */
export interface WantedCall {
  readonly number: string
  /** The client's own id; absent: the journal generates one. */
  readonly externalId?: string | undefined
  /** The call needs confirmation; all requests send the same token. */
  readonly isConfirmed: boolean
  readonly requests: readonly PlannedRequest[]
  /** Handling of each request for this call, in order. After these, the platform has no faults. */
  readonly posts: readonly Reaction[]
}

export type PlannedEvent =
  /** The clocks of all machines are set. */
  | { readonly at: number; readonly kind: 'clock'; readonly byMs: number }
  | { readonly at: number; readonly kind: 'restart of the machine' }
  | { readonly at: number; readonly kind: 'kill'; readonly server: number }
  /** The platform's lists fail for this time. */
  | { readonly at: number; readonly kind: 'no lists'; readonly forMs: number }

export interface Plan {
  readonly seed: number
  readonly servers: number
  readonly settledMs: number
  readonly findOutMs: number
  /** Time limit of a request, ms. */
  readonly requestMs: number
  readonly listing: Listing
  /** Number of unrelated calls in lists. */
  readonly otherCalls: number
  /** Probability that a server crashes at an operation on the shared state. */
  readonly crashRate: number
  /** Probability that an operation on the shared state fails, before or after it took effect. */
  readonly stateFailureRate: number
  /** Probability that a read fails or is slow. */
  readonly readFaultRate: number
  /** Longest duration of an operation on the shared state, ms. */
  readonly stateMs: number
  readonly limits: { readonly max_at_once?: number; readonly max_per_minute?: number }
  readonly calls: readonly WantedCall[]
  readonly events: readonly PlannedEvent[]
  /**
   * State that the servers share: files on one machine, or a database for servers on separate
   * machines.
   */
  readonly shared: 'files' | 'database'
}

interface Weighted<T> {
  readonly weight: number
  readonly value: T
}

const choose = <T>(random: () => number, ...values: readonly Weighted<T>[]): T =>
  pick(values, random).value
const chance = <T>(weight: number, value: T): Weighted<T> => ({ weight, value })
const between = (random: () => number, from: number, to: number) =>
  Math.round(from + random() * (to - from))

/** Generates the plan for a seed. */
export function planOf(seed: number): Plan {
  const random = randomOf(seed, 'plan')
  const servers = choose(random, chance(3, 1), chance(5, 2), chance(2, 3))
  const timing = {
    settledMs: choose(random, chance(2, 3000), chance(3, 20_000), chance(3, 120_000)),
    findOutMs: choose(random, chance(2, 600), chance(3, 5000), chance(3, 20_000)),
    requestMs: choose(random, chance(1, 4000), chance(2, 12_000), chance(4, 54_000)),
  }
  const isHostile = random() < 0.6
  const events = eventsOf(random, servers)
  return {
    seed,
    servers,
    ...timing,
    listing: random() < 0.6 ? documented : listingOf(randomOf(seed, 'listing')),
    otherCalls: choose(random, chance(8, 0), chance(4, 12), chance(1, 120)),
    crashRate: isHostile ? choose(random, chance(3, 0), chance(3, 0.01), chance(2, 0.05)) : 0,
    stateFailureRate: isHostile ? choose(random, chance(3, 0), chance(2, 0.02), chance(1, 0.1)) : 0,
    readFaultRate: isHostile ? choose(random, chance(1, 0), chance(2, 0.1), chance(2, 0.4)) : 0,
    stateMs: choose(random, chance(3, 0), chance(3, 30), chance(1, 2500)),
    limits: limitsOf(random),
    calls: Array.from(
      { length: choose(random, chance(4, 1), chance(3, 2), chance(1, 4)) },
      (_, index) => wantedOf(random, { index, servers, isHostile, ...timing }),
    ),
    events,
    // Drawn last, so that earlier random values of a seed stay the same.
    shared: choose(random, chance(2, 'files'), chance(1, 'database')),
  }
}

const listingOf = (random: () => number): Listing => ({
  ids: choose<Listing['ids']>(
    random,
    chance(8, 'kept'),
    ...(['hidden', 'prefixed', 'in capitals', 'cut'] as const).map((ids) => chance(1, ids)),
  ),
  filter: choose(random, chance(2, 'sent id'), chance(1, 'shown id'), chance(2, 'ignored')),
  ignoresOffset: random() < 0.15,
  maxOnPage: choose(random, chance(2, 100), chance(1, 7)),
  count: choose(random, chance(2, 'all'), chance(1, 'page'), chance(1, 'nothing')),
  numbers: choose(random, chance(4, 'kept'), chance(3, 'without +'), chance(1, 'masked')),
  changesOthers: random() < 0.5,
})

const limitsOf = (random: () => number): Plan['limits'] =>
  choose<() => Plan['limits']>(
    random,
    chance(5, () => ({})),
    chance(2, () => ({ max_at_once: between(random, 1, 2) })),
    chance(1, () => ({ max_per_minute: between(random, 1, 2) })),
    chance(1, () => ({ max_at_once: 2, max_per_minute: 2 })),
  )()

/** Random events; none in half of the histories. */
function eventsOf(random: () => number, servers: number): PlannedEvent[] {
  const count = choose(random, chance(5, 0), chance(3, 1), chance(2, 3))
  // All clock changes have one direction: if a clock is set forward and then back, the program may
  // forget that a token was used.
  const direction = random() < 0.5 ? 1 : -1
  const step = () =>
    direction *
    choose(random, chance(1, 900), chance(1, 5000), chance(2, 90_000), chance(2, 3_600_000))
  return Array.from({ length: count }, () => {
    const when = { at: between(random, 0, random() < 0.5 ? 5000 : 240_000) }
    return choose<() => PlannedEvent>(
      random,
      chance(4, () => ({ ...when, kind: 'clock', byMs: step() })),
      chance(4, () => ({ ...when, kind: 'kill', server: between(random, 0, servers - 1) })),
      chance(1, () => ({ ...when, kind: 'restart of the machine' })),
      chance(2, () => ({ ...when, kind: 'no lists', forMs: between(random, 1000, 180_000) })),
    )()
  })
}

interface WantedOptions {
  readonly index: number
  readonly servers: number
  readonly isHostile: boolean
  readonly settledMs: number
  readonly requestMs: number
}

function wantedOf(random: () => number, options: WantedOptions): WantedCall {
  const { index, servers, isHostile } = options
  const isOwnId = random() < 0.5
  const count = choose(random, chance(2, 1), chance(4, 2), chance(3, 4))
  return {
    number: `+4915112345${String(670 + index)}`,
    externalId: isOwnId ? `Order ${index} of customer 42` : undefined,
    isConfirmed: random() < 0.3,
    requests: Array.from({ length: count }, () => ({
      at: requestTime(random, options),
      server: between(random, 0, servers - 1),
      cancelledAfter: random() < 0.15 ? between(random, 0, random() < 0.5 ? 50 : 5000) : undefined,
    })).toSorted((one, other) => one.at - other.at),
    posts:
      isHostile || random() < 0.5
        ? [faultyPost(random), faultyPost(random), faultyPost(random)]
        : [],
  }
}

/**
 * Random time of a request: with the other requests, soon after them, or about when the call may be
 * sent again.
 */
const requestTime = (random: () => number, { settledMs, requestMs }: WantedOptions): number =>
  choose<() => number>(
    random,
    chance(4, () => between(random, 0, 30)),
    chance(3, () => between(random, 0, 8000)),
    chance(2, () => settledMs + between(random, -1000, 8000)),
    chance(2, () => settledMs + between(random, 0, requestMs)),
    chance(1, () => between(random, 0, 300_000)),
  )()
