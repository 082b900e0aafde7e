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

const oneOf = <T>(random: () => number, ...values: readonly Weighted<T>[]): T =>
  pick(values, random).value
const at = <T>(weight: number, value: T): Weighted<T> => ({ weight, value })
const between = (random: () => number, from: number, to: number) =>
  Math.round(from + random() * (to - from))

/** Generates the plan for a seed. */
export function planOf(seed: number): Plan {
  const random = randomOf(seed, 'plan')
  const servers = oneOf(random, at(3, 1), at(5, 2), at(2, 3))
  const timing = {
    settledMs: oneOf(random, at(2, 3000), at(3, 20_000), at(3, 120_000)),
    findOutMs: oneOf(random, at(2, 600), at(3, 5000), at(3, 20_000)),
    requestMs: oneOf(random, at(1, 4000), at(2, 12_000), at(4, 54_000)),
  }
  const isHostile = random() < 0.6
  const events = eventsOf(random, servers)
  return {
    seed,
    servers,
    ...timing,
    listing: random() < 0.6 ? documented : listingOf(randomOf(seed, 'listing')),
    otherCalls: oneOf(random, at(8, 0), at(4, 12), at(1, 120)),
    crashRate: isHostile ? oneOf(random, at(3, 0), at(3, 0.01), at(2, 0.05)) : 0,
    stateFailureRate: isHostile ? oneOf(random, at(3, 0), at(2, 0.02), at(1, 0.1)) : 0,
    readFaultRate: isHostile ? oneOf(random, at(1, 0), at(2, 0.1), at(2, 0.4)) : 0,
    stateMs: oneOf(random, at(3, 0), at(3, 30), at(1, 2500)),
    limits: limitsOf(random),
    calls: Array.from({ length: oneOf(random, at(4, 1), at(3, 2), at(1, 4)) }, (_, index) =>
      wantedOf(random, { index, servers, isHostile, ...timing }),
    ),
    events,
    // Drawn last, so that earlier random values of a seed stay the same.
    shared: oneOf(random, at(2, 'files'), at(1, 'database')),
  }
}

const listingOf = (random: () => number): Listing => ({
  ids: oneOf<Listing['ids']>(
    random,
    at(8, 'kept'),
    ...(['hidden', 'prefixed', 'in capitals', 'cut'] as const).map((ids) => at(1, ids)),
  ),
  filter: oneOf(random, at(2, 'sent id'), at(1, 'shown id'), at(2, 'ignored')),
  ignoresOffset: random() < 0.15,
  maxOnPage: oneOf(random, at(2, 100), at(1, 7)),
  count: oneOf(random, at(2, 'all'), at(1, 'page'), at(1, 'nothing')),
  numbers: oneOf(random, at(4, 'kept'), at(3, 'without +'), at(1, 'masked')),
  changesOthers: random() < 0.5,
})

const limitsOf = (random: () => number): Plan['limits'] =>
  oneOf<() => Plan['limits']>(
    random,
    at(5, () => ({})),
    at(2, () => ({ max_at_once: between(random, 1, 2) })),
    at(1, () => ({ max_per_minute: between(random, 1, 2) })),
    at(1, () => ({ max_at_once: 2, max_per_minute: 2 })),
  )()

/** Random events; none in half of the histories. */
function eventsOf(random: () => number, servers: number): PlannedEvent[] {
  const count = oneOf(random, at(5, 0), at(3, 1), at(2, 3))
  // All clock changes have one direction: if a clock is set forward and then back, the program may
  // forget that a token was used.
  const direction = random() < 0.5 ? 1 : -1
  const step = () =>
    direction * oneOf(random, at(1, 900), at(1, 5000), at(2, 90_000), at(2, 3_600_000))
  return Array.from({ length: count }, () => {
    const when = { at: between(random, 0, random() < 0.5 ? 5000 : 240_000) }
    return oneOf<() => PlannedEvent>(
      random,
      at(4, () => ({ ...when, kind: 'clock', byMs: step() })),
      at(4, () => ({ ...when, kind: 'kill', server: between(random, 0, servers - 1) })),
      at(1, () => ({ ...when, kind: 'restart of the machine' })),
      at(2, () => ({ ...when, kind: 'no lists', forMs: between(random, 1000, 180_000) })),
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
  const count = oneOf(random, at(2, 1), at(4, 2), at(3, 4))
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
  oneOf<() => number>(
    random,
    at(4, () => between(random, 0, 30)),
    at(3, () => between(random, 0, 8000)),
    at(2, () => settledMs + between(random, -1000, 8000)),
    at(2, () => settledMs + between(random, 0, requestMs)),
    at(1, () => between(random, 0, 300_000)),
  )()
