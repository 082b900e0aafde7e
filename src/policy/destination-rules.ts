import type { Destination } from './dial-decision.ts'
import type { DialPolicyConfig } from './dial-policy-config.ts'
import { classifyNumber } from './number-class.ts'
import { zonesOf } from './number-zones.ts'
import { quietAt, quietUntil } from './quiet-hours.ts'
import type { RuleViolation } from './rule-violation.ts'

/** Checks the called number: what it is, which country it is in, and what time it is there. */
export function checkDestination(
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

/** The two lists of allowed destinations add up: a number has to be in one of them. */
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
  const zones = zonesOf(number, country, byPrefix)
  if (zones.length === 0) {
    return {
      rule,
      message: `${number} is not called: its time zone is unknown, and there are quiet hours.`,
    }
  }
  const found = quietAt(now, zones, quiet_hours)
  if (!found) return undefined
  const until = quietUntil(now, zones, quiet_hours)
  const { from, to, days } = found.hours
  const hours = `quiet hours (${from} to ${to}${days ? `, beginning on ${days.join(', ')}` : ''})`
  const oneOfSeveral =
    zones.length > 1 ? ', one of the time zones it may be in (the number does not tell which)' : ''
  return {
    rule,
    message: `${number} is not called now: it is ${found.clock} in ${found.zone}${oneOfSeveral}, which is in the ${hours}.`,
    retryAfterSeconds: until === undefined ? null : Math.ceil((until - now) / 1000),
  }
}

const unknownCountry = (number: string) =>
  `${number} is not called: its country is unknown, and the policy is by country.`

const nameOf = (country: string) =>
  new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? country
