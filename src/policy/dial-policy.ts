import { randomUUID } from 'node:crypto'
import type { CallCounter, OpenCall, PlatformCall } from '../state/call-counter.ts'
import type { CallLimits, ExceededLimit } from '../state/call-limits.ts'
import type { DialPolicyConfig } from './policy.ts'
import { checkDestination, type Objection } from './rules.ts'
import type { Allowed, DialRequest, Refused, Verdict } from './verdict.ts'

/** The longest that a call is taken to be under way when nobody says that it has ended, ms. */
const longestCall = 12 * 3_600_000

/** What the operator lets assistants dial. Made once per server, so that `max_total` counts. */
export interface DialPolicy {
  /** Whether the call would be allowed now. Counts nothing. */
  check(request: DialRequest): Promise<Verdict>
  /** The same, and counts it: to be asked right before dialling. */
  reserve(request: DialRequest): Promise<(Allowed & { readonly id: string }) | Refused>
  /** Which call it became. Never throws. */
  placed(id: string, call: PlatformCall): Promise<void>
  /** Calls of an owner that nobody has said to have ended. Never throws. */
  underWay(owner: string): Promise<readonly OpenCall[]>
  /** The call is still under way. Never throws. */
  renew(id: string): Promise<void>
  /** The call has ended: another may begin. Never throws. */
  release(id: string): Promise<void>
  /** The call was never dialled: it does not count. Never throws. */
  cancel(id: string): Promise<void>
}

export interface DialPolicyOptions {
  /** `undefined` when the operator has set none: every ordinary number may be dialled. */
  readonly config: DialPolicyConfig | undefined
  /** Where the policy is, for whoever is to change it: a flag, a variable, a file's path. */
  readonly source: string
  readonly counter: CallCounter
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** How long a call is under way at most unless renewed, ms. Default 12 hours. */
  readonly leaseMs?: number
}

export function createDialPolicy({
  config = {},
  source,
  counter,
  now = Date.now,
  leaseMs = longestCall,
}: DialPolicyOptions): DialPolicy {
  const limits = limitsOf(config)
  const isCounting = Object.keys(limits).length > 0
  /** Calls of this run that were not cancelled. */
  const placed = new Set<string>()
  let reserving = 0

  const refuse = ({ rule, message, retryAfterSeconds = null }: Objection): Refused => ({
    allowed: false,
    rule,
    message,
    change: changeOf(rule, config, source),
    retryAfterSeconds,
  })

  const judge = async (request: DialRequest): Promise<Allowed | Refused> => {
    const objection = wrongAgent(request, config) ?? wrongCaller(request, config)
    if (request.type === 'web') {
      return objection ? refuse(objection) : { allowed: true, facts: { country: null, type: null } }
    }
    const found = checkDestination(request.toNumber, config, now())
    // The destination is told first: that no setting allows an emergency number is what matters.
    // Quiet hours are told last: to an agent that may not call, waiting is no help.
    if (objection && (!('rule' in found) || found.rule === 'quiet_hours')) return refuse(objection)
    return 'rule' in found ? refuse(found) : { allowed: true, facts: found }
  }

  const totalReached = (): Refused | undefined => {
    const { max_total } = config
    if (max_total === undefined || placed.size + reserving < max_total) return undefined
    return refuse({
      rule: 'max_total',
      message: `No more calls: this server may place ${calls(max_total)} from its start to its end, and has.`,
    })
  }

  const refuseExceeded = ({ rule, limit, waitMs }: ExceededLimit): Refused =>
    refuse({
      rule,
      message: `No more calls at the moment: ${calls(limit)} ${spans[rule]} ${limit === 1 ? 'is' : 'are'} allowed.`,
      retryAfterSeconds: waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000)),
    })

  /** A counter that cannot be used decides nothing, so the call is refused. */
  const refuseUncounted = (error: unknown): Refused => {
    const [rule = 'max_per_day'] = Object.keys(limits) as (keyof CallLimits)[]
    const reason = error instanceof Error ? error.message : String(error)
    return refuse({
      rule,
      message: `No call is placed, because calls cannot be counted. ${reason}`,
    })
  }

  const quietly = async (work: () => Promise<void>): Promise<void> => {
    if (!isCounting) return
    // What is not told is forgotten when its lease ends; the call itself is none the worse.
    await work().catch(() => undefined)
  }

  return {
    async check(request) {
      const verdict = await judge(request)
      if (!verdict.allowed) return verdict
      const total = totalReached()
      if (total || !isCounting) return total ?? verdict
      try {
        const limit = await counter.check(limits, now())
        return limit ? refuseExceeded(limit) : verdict
      } catch (error) {
        return refuseUncounted(error)
      }
    },
    async reserve(request) {
      const verdict = await judge(request)
      if (!verdict.allowed) return verdict
      const total = totalReached()
      if (total) return total
      // Counted before waiting for the counter: others ask meanwhile.
      reserving++
      try {
        const found = isCounting
          ? await counter.reserve(limits, now(), now() + leaseMs)
          : { id: randomUUID() }
        if ('exceeded' in found) return refuseExceeded(found.exceeded)
        placed.add(found.id)
        return { ...verdict, id: found.id }
      } catch (error) {
        return refuseUncounted(error)
      } finally {
        reserving--
      }
    },
    placed: (id, call) => quietly(() => counter.placed(id, call)),
    underWay: async (owner) =>
      // What cannot be read counts until its lease ends.
      isCounting ? counter.open(owner, now() - longestCall).catch(() => []) : [],
    renew: (id) => quietly(() => counter.renew(id, now() + leaseMs)),
    release: (id) => quietly(() => counter.release(id)),
    async cancel(id) {
      placed.delete(id)
      await quietly(() => counter.cancel(id))
    },
  }
}

/** Only those that are set. */
function limitsOf(config: DialPolicyConfig): CallLimits {
  const { max_per_minute, max_per_hour, max_per_day, max_at_once } = config
  const all = { max_per_minute, max_per_hour, max_per_day, max_at_once }
  return Object.fromEntries(Object.entries(all).filter(([, limit]) => limit !== undefined))
}

function wrongAgent(
  { agentId, agentName }: DialRequest,
  { allow_agents }: DialPolicyConfig,
): Objection | undefined {
  if (!allow_agents) return undefined
  if (allow_agents.includes(agentId)) return undefined
  if (agentName !== null && allow_agents.includes(agentName)) return undefined
  const name = agentName === null ? '' : ` (${agentName})`
  return { rule: 'allow_agents', message: `Agent ${agentId}${name} may not place calls.` }
}

function wrongCaller(
  { type, fromNumber }: DialRequest,
  { allow_from }: DialPolicyConfig,
): Objection | undefined {
  if (!allow_from || type === 'web') return undefined
  if (fromNumber !== null && allow_from.includes(fromNumber)) return undefined
  const may = `only ${allow_from.join(', ')} may be called from`
  return {
    rule: 'allow_from',
    message:
      fromNumber === null
        ? `The call names no number to call from; ${may}.`
        : `${fromNumber} is no number to call from; ${may}.`,
  }
}

/** Who can change what a rule says. */
function changeOf(rule: Objection['rule'], config: DialPolicyConfig, source: string): string {
  if (rule === 'emergency' || rule === 'premium') return 'No setting allows this.'
  if (rule === 'invalid_number') return 'No setting allows this; correct the number.'
  const isAllowed = rule === 'allow_countries' || rule === 'allow_prefixes'
  const other = rule === 'allow_countries' ? 'allow_prefixes' : 'allow_countries'
  const fields = isAllowed && config[other] ? `${rule} or ${other}` : rule
  return `The operator of this server can change ${fields} in the dial policy (${source}).`
}

const calls = (count: number) => (count === 1 ? '1 call' : `${count} calls`)

const spans: Readonly<Record<keyof CallLimits, string>> = {
  max_per_minute: 'a minute',
  max_per_hour: 'an hour',
  max_per_day: 'in 24 hours',
  max_at_once: 'at once',
}
