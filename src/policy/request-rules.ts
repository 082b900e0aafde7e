import { checkDestination } from './destination-rules.ts'
import type { Destination, DialRequest } from './dial-decision.ts'
import type { DialPolicyConfig } from './dial-policy-config.ts'
import type { RuleViolation } from './rule-violation.ts'

/** Checks a call against all rules that do not count calls. `now`: ms since 1970. */
export function checkRequest(
  request: DialRequest,
  config: DialPolicyConfig,
  now: number,
): RuleViolation | Destination {
  const wrongEnds = forbiddenAgent(request, config) ?? forbiddenCallerNumber(request, config)
  if (request.type === 'web') return wrongEnds ?? { country: null, type: null }
  const destination = checkDestination(request.toNumber, config, now)
  if (!wrongEnds) return destination
  // Of several violations the one that matters most: no setting allows an emergency number. Quiet
  // hours come last, because waiting does not help an agent that may not call.
  const isWorse = 'rule' in destination && destination.rule !== 'quiet_hours'
  return isWorse ? destination : wrongEnds
}

function forbiddenAgent(
  { agentId, agentName }: DialRequest,
  { allow_agents }: DialPolicyConfig,
): RuleViolation | undefined {
  if (!allow_agents) return undefined
  if (allow_agents.includes(agentId)) return undefined
  if (agentName !== null && allow_agents.includes(agentName)) return undefined
  const name = agentName === null ? '' : ` (${agentName})`
  return { rule: 'allow_agents', message: `Agent ${agentId}${name} may not place calls.` }
}

function forbiddenCallerNumber(
  { type, fromNumber }: DialRequest,
  { allow_from }: DialPolicyConfig,
): RuleViolation | undefined {
  if (!allow_from || type === 'web') return undefined
  if (fromNumber !== null && allow_from.includes(fromNumber)) return undefined
  const allowed = `allowed caller numbers are ${allow_from.join(', ')}`
  return {
    rule: 'allow_from',
    message:
      fromNumber === null
        ? `The call has no caller number (from_number); ${allowed}.`
        : `${fromNumber} is not allowed as caller number; ${allowed}.`,
  }
}
