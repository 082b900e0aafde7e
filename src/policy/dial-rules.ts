import { canonicalId } from '../text/canonical-id.ts'
import { emergencyNever } from '../text/phone-number.ts'
import { agentNamePrefix, type DialPolicyConfig } from './dial-policy-config.ts'
import { classifyNumber } from './number-class.ts'
import { quietAt, quietUntil, zonesOfNumber } from './quiet-hours.ts'

export interface DialRequest {
  readonly agentId: string
  /** `null`: not known. */
  readonly agentName: string | null
  /** A web call dials no phone number. */
  readonly type: 'phone' | 'web'
  /** E.164; `null`: the platform chooses the caller number, or the call is a web call. */
  readonly fromNumber: string | null
  /** E.164; `null` for a web call. */
  readonly toNumber: string | null
}

/** Country and type of the called number, if the number shows them; `null` for a web call. */
interface Destination {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null
  /** libphonenumber's type, such as MOBILE. */
  readonly type: string | null
}

export interface DialAllowed {
  readonly allowed: true
  readonly destination: Destination
}

/** A refusal by the dial policy, in texts that an assistant can repeat to a person. */
export interface DialRefused {
  readonly allowed: false
  /** Name of the policy's field, or `emergency`, `premium`, `invalid_number`, `calls_stopped`. */
  readonly rule: string
  /** The refused value, and the reason. */
  readonly message: string
  /** How to change the rule, and who may. */
  readonly change: string
  /** Seconds until a retry may succeed; `null`: waiting does not help, or the time is not known. */
  readonly retryAfterSeconds: number | null
}

export type DialDecision = DialAllowed | DialRefused

export interface RuleViolation {
  readonly rule:
    | keyof DialPolicyConfig
    | 'emergency'
    | 'premium'
    | 'invalid_number'
    | 'calls_stopped'
  readonly message: string
  readonly retryAfterSeconds?: number | null
}

/** Checks a call against every rule that does not count calls. `now`: ms since 1970. */
export function checkRequest(
  request: DialRequest,
  config: DialPolicyConfig,
  now: number,
): RuleViolation | Destination {
  const callerViolation = forbiddenAgent(request, config) ?? forbiddenCallerNumber(request, config)
  if (request.type === 'web') return callerViolation ?? { country: null, type: null }
  const destination = checkDestination(request.toNumber, config, now)
  if (!callerViolation) return destination
  // Of several violations, the most serious is reported. No setting can allow an emergency number,
  // so it comes first. Quiet hours come last: an agent that may not call cannot wait for their end.
  const isWorse = 'rule' in destination && destination.rule !== 'quiet_hours'
  return isWorse ? destination : callerViolation
}

function forbiddenAgent(
  { agentId, agentName }: DialRequest,
  { allow_agents }: DialPolicyConfig,
): RuleViolation | undefined {
  if (!allow_agents) return undefined
  // An entry without the prefix never matches a name. Otherwise an agent could be renamed to an
  // allowed id.
  const isAllowed = allow_agents.some((entry) =>
    entry.startsWith(agentNamePrefix)
      ? entry.slice(agentNamePrefix.length) === agentName
      : canonicalId(entry) === canonicalId(agentId),
  )
  if (isAllowed) return undefined
  return { rule: 'allow_agents', message: `Agent ${agentName ?? agentId} may not place calls.` }
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

/** Checks the class and the country of the called number, and the local time there. */
function checkDestination(
  number: string | null,
  config: DialPolicyConfig,
  now: number,
): RuleViolation | Destination {
  if (number === null) {
    return { rule: 'invalid_number', message: 'A phone call needs a number to call (to_number).' }
  }
  const found = classifyNumber(number)
  if (found.kind !== 'ordinary') {
    return { rule: found.kind, message: `${number} is not called: it ${found.reason}.` }
  }
  const { country, type } = found
  return (
    deniedDestination(number, country, config) ??
    destinationNotAllowed(number, country, config) ??
    quietDestination(number, country, config, now) ?? { country, type }
  )
}

function deniedDestination(
  number: string,
  country: string | null,
  { deny_prefixes = [], deny_countries }: DialPolicyConfig,
): RuleViolation | undefined {
  const prefix = deny_prefixes.find((one) => number.startsWith(one))
  if (prefix) {
    return {
      rule: 'deny_prefixes',
      message: `${number} is not called: numbers that begin with ${prefix} are denied.`,
    }
  }
  if (!deny_countries) return undefined
  if (country === null) return { rule: 'deny_countries', message: unknownCountry(number) }
  if (!deny_countries.includes(country)) return undefined
  return {
    rule: 'deny_countries',
    message: `${number} is not called: calls to ${nameOf(country)} are denied.`,
  }
}

/** Refuses a number that is in neither list of allowed destinations. */
function destinationNotAllowed(
  number: string,
  country: string | null,
  { allow_prefixes, allow_countries }: DialPolicyConfig,
): RuleViolation | undefined {
  if (!allow_prefixes && !allow_countries) return undefined
  if (allow_prefixes?.some((one) => number.startsWith(one))) return undefined
  if (country !== null && allow_countries?.includes(country)) return undefined
  const rule = allow_countries ? 'allow_countries' : 'allow_prefixes'
  if (allow_countries && country === null) return { rule, message: unknownCountry(number) }
  const lists = [
    ...(allow_countries ? [`to ${allow_countries.map(nameOf).join(', ')}`] : []),
    ...(allow_prefixes ? [`to numbers that begin with ${allow_prefixes.join(', ')}`] : []),
  ]
  const where = country === null ? '' : ` in ${nameOf(country)}`
  return {
    rule,
    message: `${number}${where} is not called: only calls ${lists.join(' or ')} are allowed.`,
  }
}

function quietDestination(
  number: string,
  country: string | null,
  { quiet_hours, zones: byPrefix }: DialPolicyConfig,
  now: number,
): RuleViolation | undefined {
  if (!quiet_hours) return undefined
  const rule = 'quiet_hours'
  const zones = zonesOfNumber(number, country, byPrefix)
  if (zones.length === 0) {
    return {
      rule,
      message: `${number} is not called: there are quiet hours, and its time zone is unknown.`,
    }
  }
  const found = quietAt(now, zones, quiet_hours)
  if (!found) return undefined
  const until = quietUntil(now, zones, quiet_hours)
  const { from, to, days } = found.hours
  const hours = `quiet hours (${from} to ${to}${days ? `, beginning on ${days.join(', ')}` : ''})`
  const oneOfSeveral =
    zones.length > 1 ? ' The number may be in several time zones, and all of them count.' : ''
  return {
    rule,
    message: `${number} is not called now: it is ${found.clock} in ${found.zone}, in the ${hours}.${oneOfSeveral}`,
    retryAfterSeconds: until === undefined ? null : Math.ceil((until - now) / 1000),
  }
}

const unknownCountry = (number: string) =>
  `${number} is not called: its country is unknown, and the policy is by country.`

const nameOf = (country: string) =>
  new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? country

/** The refusal for a violation, with who can change the rule. `source`: where the policy is. */
export const refusalOf = (
  { rule, message, retryAfterSeconds = null }: RuleViolation,
  config: DialPolicyConfig,
  source: string,
): DialRefused => ({
  allowed: false,
  rule,
  message,
  change: changeOf(rule, config, source),
  retryAfterSeconds,
})

function changeOf(rule: RuleViolation['rule'], config: DialPolicyConfig, source: string): string {
  if (rule === 'emergency') return `No setting allows this: ${emergencyNever}.`
  if (rule === 'premium') return 'No setting allows this.'
  if (rule === 'calls_stopped')
    return 'The operator of this server resumes calls with: voice-agent-mcp calls resume.'
  if (rule === 'invalid_number') return 'No setting allows this; correct the number.'
  // A number needs to be in only one of the two lists, so changing either list helps.
  const isAllowList = rule === 'allow_countries' || rule === 'allow_prefixes'
  const other = rule === 'allow_countries' ? 'allow_prefixes' : 'allow_countries'
  const fields = isAllowList && config[other] ? `${rule} or ${other}` : rule
  return `The operator of this server can change ${fields} in the dial policy (${source}).`
}
