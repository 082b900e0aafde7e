import { randomUUID } from 'node:crypto'
import type { CallCounter, OpenCall, PlatformCall, Reservation } from '../state/call-counter.ts'
import type { CallKey } from '../state/journal.ts'
import { callLimitsOf, limitViolation, RunTotal, uncountedViolation } from './counted-limits.ts'
import type { DialAllowed, DialDecision, DialRefused, DialRequest } from './dial-decision.ts'
import type { DialPolicyConfig } from './dial-policy-config.ts'
import { checkRequest } from './request-rules.ts'
import { refuserOf } from './rule-violation.ts'

/** The longest that a call can last, ms; one whose end is not known counts as under way until then. */
export const longestCallMs = 12 * 3_600_000

/** What the operator lets assistants dial. One for a server process, because `max_total` counts. */
export interface DialPolicy {
  /** Whether the call would be allowed now. Counts nothing. */
  check(request: DialRequest): Promise<DialDecision>
  /**
   * The same, and counts the call if it is allowed: to be asked right before it is sent. `call`: its
   * entry in the journal.
   */
  reserve(
    request: DialRequest,
    call?: CallKey,
  ): Promise<(DialAllowed & { readonly id: string }) | DialRefused>
  /** Reservations for a call of which it is not recorded what became of it. Never throws. */
  pending(call: CallKey): Promise<readonly string[]>
  /** Which call it became. Never throws. */
  placed(id: string, call: PlatformCall): Promise<void>
  /** Calls of an owner whose end is not known. Never throws. */
  underWay(owner: string): Promise<readonly OpenCall[]>
  /** The call is still under way. Never throws. */
  renew(id: string): Promise<void>
  /** The call has ended: another may begin. Never throws. */
  release(id: string): Promise<void>
  /** The call was not placed: it does not count. Never throws. */
  cancel(id: string): Promise<void>
}

export interface DialPolicyOptions {
  /** `undefined`: the operator has set no policy; every ordinary number may be dialled. */
  readonly config: DialPolicyConfig | undefined
  /** Where the policy is, for a person who is to change it: a flag, a variable, a file's path. */
  readonly source: string
  readonly counter: CallCounter
  /** For the rules about the time of day, ms since 1970; limits are counted by the counter's time. */
  readonly now?: () => number
  /** How long a call counts as under way unless it is renewed, ms. Default 12 hours. */
  readonly leaseMs?: number
}

export function createDialPolicy(options: DialPolicyOptions): DialPolicy {
  const { config = {}, source, counter, now = Date.now, leaseMs = longestCallMs } = options
  const limits = callLimitsOf(config)
  const isCounting = Object.keys(limits).length > 0
  const total = new RunTotal(config.max_total)
  const refuse = refuserOf(config, source)
  const refuseUncounted = (error: unknown) => refuse(uncountedViolation(limits, error))

  const decide = (request: DialRequest): DialDecision => {
    const found = checkRequest(request, config, now())
    if ('rule' in found) return refuse(found)
    const violation = total.violation()
    return violation ? refuse(violation) : { allowed: true, destination: found }
  }
  const count = (call: CallKey | undefined): Promise<Reservation> =>
    total.reserve(call, async () =>
      isCounting ? counter.reserve(limits, leaseMs, call) : { id: randomUUID() },
    )
  return {
    async check(request) {
      const decision = decide(request)
      if (!decision.allowed || !isCounting) return decision
      try {
        const exceeded = await counter.check(limits)
        return exceeded ? refuse(limitViolation(exceeded)) : decision
      } catch (error) {
        return refuseUncounted(error)
      }
    },
    async reserve(request, call) {
      const decision = decide(request)
      if (!decision.allowed) return decision
      try {
        const counted = await count(call)
        if ('exceeded' in counted) return refuse(limitViolation(counted.exceeded))
        return { ...decision, id: counted.id }
      } catch (error) {
        return refuseUncounted(error)
      }
    },
    async pending(call) {
      const shared = isCounting ? await counter.pending(call).catch(() => []) : []
      return [...new Set([...shared, ...total.reservedFor(call)])]
    },
    ...following(counter, { isCounting, leaseMs }),
    async cancel(id) {
      total.cancel(id)
      if (isCounting) await counter.cancel(id).catch(ignore)
    },
  }
}

interface Following {
  readonly isCounting: boolean
  readonly leaseMs: number
}

/** Tells the counter of calls that were placed. If that fails, the call counts until its lease ends. */
const following = (
  counter: CallCounter,
  { isCounting, leaseMs }: Following,
): Pick<DialPolicy, 'placed' | 'underWay' | 'renew' | 'release'> => {
  const tell = async (work: () => Promise<void>) => {
    if (isCounting) await work().catch(ignore)
  }
  return {
    placed: (id, call) => tell(() => counter.placed(id, call)),
    underWay: async (owner) =>
      isCounting ? counter.open(owner, longestCallMs).catch(() => []) : [],
    renew: (id) => tell(() => counter.renew(id, leaseMs)),
    release: (id) => tell(() => counter.release(id)),
  }
}

const ignore = () => undefined
