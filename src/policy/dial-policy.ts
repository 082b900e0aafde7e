import { randomUUID } from 'node:crypto'
import type {
  CallCounter,
  CallLimits,
  ExceededLimit,
  OpenCall,
  PlatformCall,
  Reservation,
} from '../state/call-counter.ts'
import type { CallKey } from '../state/call-journal.ts'
import { type CallStop, callStopText } from '../state/call-stop.ts'
import { counted } from '../text/labels.ts'
import type { DialPolicyConfig } from './dial-policy-config.ts'
import type { DialAllowed, DialDecision, DialRefused, DialRequest } from './dial-rules.ts'
import { checkRequest, type RuleViolation, refusalOf } from './dial-rules.ts'

/** Maximum length of a call, ms. A call without a known end counts as running for this time. */
export const longestCallMs = 12 * 3_600_000

/**
 * The operator's policy for calls. One per server process, because it counts the calls of the
 * process for `max_total`.
 */
export interface DialPolicy {
  /**
   * Refusal if the operator has stopped all calls; `undefined`: calls are not stopped. Must be
   * checked right before a call is sent, because the stop may be newer than the reservation. Throws
   * StateError.
   */
  stopped(): Promise<DialRefused | undefined>
  /** Decides about a call without counting it. Throws StateError. */
  check(request: DialRequest): Promise<DialDecision>
  /**
   * Decides about a call, and counts it if it is allowed. Must run right before the call is sent.
   * `call`: key of the call's journal entry. Throws StateError.
   */
  reserve(
    request: DialRequest,
    call?: CallKey,
  ): Promise<(DialAllowed & { readonly id: string }) | DialRefused>
  /** Ids of a call's reservations without a recorded outcome. Never throws. */
  pending(call: CallKey): Promise<readonly string[]>
  /** Records the id of the placed call. Never throws. */
  placed(id: string, call: PlatformCall): Promise<void>
  /** An owner's calls without a known end. Never throws. */
  runningCalls(owner: string): Promise<readonly OpenCall[]>
  /** Extends the lease of a running call. Never throws. */
  renew(id: string): Promise<void>
  /** Records that the call has ended: it no longer counts as running. Never throws. */
  ended(id: string): Promise<void>
  /** Records that the call was not placed: it no longer counts. Never throws. */
  notPlaced(id: string): Promise<void>
}

interface DialPolicyOptions {
  /** `undefined`: there is no policy, and every ordinary number may be dialled. */
  readonly config: DialPolicyConfig | undefined
  /** Where the policy is, for messages: a flag, a variable, or a file path. */
  readonly source: string
  readonly counter: CallCounter
  /** The stop of all calls that the servers share. Throws StateError. */
  readonly callStop?: () => Promise<CallStop | undefined>
  /** Clock for quiet hours, ms since 1970. The limits use the call counter's clock. */
  readonly now?: () => number
  /** Lease of a running call, ms; default 12 hours. */
  readonly leaseMs?: number
}

export function createDialPolicy(options: DialPolicyOptions): DialPolicy {
  const {
    config = {},
    source,
    counter,
    callStop,
    now = Date.now,
    leaseMs = longestCallMs,
  } = options
  const isCounting = Object.keys(spans).some((limit) => Object.hasOwn(config, limit))
  const total = new ProcessTotal(config.max_total)
  const refuse = (violation: RuleViolation) => refusalOf(violation, config, source)

  const stopped = async (): Promise<DialRefused | undefined> => {
    const stop = await callStop?.()
    return stop && refuse({ rule: 'calls_stopped', message: callStopText(stop) })
  }
  const decide = (request: DialRequest): DialDecision => {
    const found = checkRequest(request, config, now())
    if ('rule' in found) return refuse(found)
    const violation = total.violation()
    return violation ? refuse(violation) : { allowed: true, destination: found }
  }
  // If the counter cannot be updated, the call counts until its lease ends.
  const updateCounter = async (work: () => Promise<void>) => {
    if (isCounting) await work().catch(() => undefined)
  }
  return {
    stopped,
    async check(request) {
      const decision = (await stopped()) ?? decide(request)
      if (!decision.allowed || !isCounting) return decision
      const exceeded = await counter.check(config)
      return exceeded ? refuse(limitViolation(exceeded)) : decision
    },
    async reserve(request, call) {
      // No await may separate this decision from the count: both use `max_total`.
      const decision = (await stopped()) ?? decide(request)
      if (!decision.allowed) return decision
      const counted = await total.reserve(
        call,
        async (): Promise<Reservation> =>
          isCounting ? counter.reserve(config, leaseMs, call) : { id: randomUUID() },
      )
      if ('exceeded' in counted) return refuse(limitViolation(counted.exceeded))
      return { ...decision, id: counted.id }
    },
    async pending(call) {
      const shared = isCounting ? await counter.pending(call).catch(() => []) : []
      return [...new Set([...shared, ...total.reservedFor(call)])]
    },
    placed: (id, call) => updateCounter(() => counter.placed(id, call)),
    runningCalls: async (owner) =>
      isCounting ? counter.open(owner, longestCallMs).catch(() => []) : [],
    renew: (id) => updateCounter(() => counter.renew(id, leaseMs)),
    ended: (id) => updateCounter(() => counter.ended(id)),
    notPlaced(id) {
      total.remove(id)
      return updateCounter(() => counter.notPlaced(id))
    },
  }
}

/** Number of calls placed by this process, for `max_total`. */
class ProcessTotal {
  readonly #limit: number | undefined
  readonly #placed = new Map<string, CallKey | undefined>()
  #reserving = 0

  constructor(limit: number | undefined) {
    this.#limit = limit
  }

  violation(): RuleViolation | undefined {
    if (this.#limit === undefined || this.#placed.size + this.#reserving < this.#limit)
      return undefined
    return {
      rule: 'max_total',
      message: `No more calls: this server may place ${counted(this.#limit, 'call')} until it is restarted, and has placed them.`,
    }
  }

  /** Counts the call while it is being reserved, because other requests run concurrently. */
  async reserve(
    call: CallKey | undefined,
    reserve: () => Promise<Reservation>,
  ): Promise<Reservation> {
    this.#reserving++
    try {
      const reservation = await reserve()
      const isLimited = this.#limit !== undefined
      if (isLimited && 'id' in reservation) this.#placed.set(reservation.id, call)
      return reservation
    } finally {
      this.#reserving--
    }
  }

  /** Ids of the reservations that this process made for a call. */
  reservedFor({ owner, externalId }: CallKey): string[] {
    const found = [...this.#placed].filter(
      ([, call]) => call?.externalId === externalId && call.owner === owner,
    )
    return found.map(([id]) => id)
  }

  remove(id: string): void {
    this.#placed.delete(id)
  }
}

/** The time span of each limit that the call counter enforces, in words. */
const spans: Readonly<Record<keyof CallLimits, string>> = {
  max_per_minute: 'a minute',
  max_per_hour: 'an hour',
  max_per_day: 'in 24 hours',
  max_at_once: 'at once',
}

const limitViolation = ({ rule, limit, waitMs }: ExceededLimit): RuleViolation => ({
  rule,
  message: `No more calls at the moment: ${counted(limit, 'call')} ${spans[rule]} ${limit === 1 ? 'is' : 'are'} allowed.`,
  retryAfterSeconds: waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000)),
})
