import type { DialRefused } from './dial-decision.ts'
import type { DialPolicyConfig } from './dial-policy-config.ts'

/** A rule that a call breaks. */
export interface RuleViolation {
  readonly rule: keyof DialPolicyConfig | 'emergency' | 'premium' | 'invalid_number'
  readonly message: string
  readonly retryAfterSeconds?: number | null
}

export type Refuse = (violation: RuleViolation) => DialRefused

/** Makes refusals, which also say who can change the rule; `source` says where the policy is. */
export const refuserOf =
  (config: DialPolicyConfig, source: string): Refuse =>
  ({ rule, message, retryAfterSeconds = null }) => ({
    allowed: false,
    rule,
    message,
    change: changeOf(rule, config, source),
    retryAfterSeconds,
  })

function changeOf(rule: RuleViolation['rule'], config: DialPolicyConfig, source: string): string {
  if (rule === 'emergency' || rule === 'premium') return 'No setting allows this.'
  if (rule === 'invalid_number') return 'No setting allows this; correct the number.'
  // The two lists of allowed destinations add up, so either can be changed.
  const isAllowList = rule === 'allow_countries' || rule === 'allow_prefixes'
  const other = rule === 'allow_countries' ? 'allow_prefixes' : 'allow_countries'
  const fields = isAllowList && config[other] ? `${rule} or ${other}` : rule
  return `The operator of this server can change ${fields} in the dial policy (${source}).`
}
