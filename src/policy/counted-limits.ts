import type { CallLimits, ExceededLimit } from '../state/call-limits.ts'
import type { CallKey } from '../state/journal.ts'
import type { DialPolicyConfig } from './dial-policy-config.ts'
import type { RuleViolation } from './rule-violation.ts'

/** The limits of a policy that the call counter keeps; only those that are set. */
export function callLimitsOf(config: DialPolicyConfig): CallLimits {
  const { max_per_minute, max_per_hour, max_per_day, max_at_once } = config
  const all = { max_per_minute, max_per_hour, max_per_day, max_at_once }
  return Object.fromEntries(Object.entries(all).filter(([, limit]) => limit !== undefined))
}

/** The calls that this process has placed since its start, for `max_total`. */
export class RunTotal {
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
      message: `No more calls: this server may place ${calls(this.#limit)} from its start to its end, and has.`,
    }
  }

  /** Counts a call while its reservation is made, because other requests ask meanwhile. */
  async reserve<R extends { readonly id: string } | object>(
    call: CallKey | undefined,
    reserve: () => Promise<R>,
  ): Promise<R> {
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

  /** The reservations of this process for a call. */
  reservedFor({ owner, externalId }: CallKey): string[] {
    const found = [...this.#placed].filter(
      ([, call]) => call?.externalId === externalId && call.owner === owner,
    )
    return found.map(([id]) => id)
  }

  cancel(id: string): void {
    this.#placed.delete(id)
  }
}

const spans: Readonly<Record<keyof CallLimits, string>> = {
  max_per_minute: 'a minute',
  max_per_hour: 'an hour',
  max_per_day: 'in 24 hours',
  max_at_once: 'at once',
}

export const limitViolation = ({ rule, limit, waitMs }: ExceededLimit): RuleViolation => ({
  rule,
  message: `No more calls at the moment: ${calls(limit)} ${spans[rule]} ${limit === 1 ? 'is' : 'are'} allowed.`,
  retryAfterSeconds: waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000)),
})

/** Without the counter it is unknown whether a limit is reached, so the call is refused. */
export function uncountedViolation(limits: CallLimits, error: unknown): RuleViolation {
  const [rule = 'max_per_day'] = Object.keys(limits) as (keyof CallLimits)[]
  const reason = error instanceof Error ? error.message : String(error)
  return { rule, message: `No call is placed, because calls cannot be counted. ${reason}` }
}

const calls = (count: number) => (count === 1 ? '1 call' : `${count} calls`)
