import { numberFacts } from './numbers.ts'
import type { DialPolicyConfig } from './policy.ts'
import { quietAt, quietUntil } from './quiet-hours.ts'
import type { Allowed } from './verdict.ts'
import { zonesOf } from './zones.ts'

/** Why a number may not be dialled, before it is known who can change that. */
export interface Objection {
  readonly rule: keyof DialPolicyConfig | 'emergency' | 'premium' | 'invalid_number'
  readonly message: string
  readonly retryAfterSeconds?: number | null
}

/**
 * Checks the called number: what it is, where it is, what time it is there. Loads libphonenumber,
 * so this file is imported when a call is checked.
 */
export function checkDestination(
  number: string | null,
  config: DialPolicyConfig,
  now: number,
): Objection | Allowed['facts'] {
  if (number === null) {
    return { rule: 'invalid_number', message: 'A phone call needs a number to call.' }
  }
  const facts = numberFacts(number)
  if (facts.kind !== 'ordinary') {
    return { rule: facts.kind, message: `${number} is not called: it ${facts.reason}.` }
  }
  const { country, type } = facts
  return (
    denied(number, country, config) ??
    notAllowed(number, country, config) ??
    quiet(number, country, config, now) ?? { country, type }
  )
}

function denied(
  number: string,
  country: string | null,
  { deny_prefixes = [], deny_countries }: DialPolicyConfig,
): Objection | undefined {
  const prefix = deny_prefixes.find((one) => number.startsWith(one))
  if (prefix) {
    return {
      rule: 'deny_prefixes',
      message: `${number} is not called: numbers that begin with ${prefix} are denied.`,
    }
  }
  if (!deny_countries) return undefined
  if (country === null) return { rule: 'deny_countries', message: ofNoCountry(number) }
  if (!deny_countries.includes(country)) return undefined
  return {
    rule: 'deny_countries',
    message: `${number} is not called: calls to ${nameOf(country)} are denied.`,
  }
}

/** The two lists add up: a number has to be in one of them. */
function notAllowed(
  number: string,
  country: string | null,
  { allow_prefixes, allow_countries }: DialPolicyConfig,
): Objection | undefined {
  if (!allow_prefixes && !allow_countries) return undefined
  if (allow_prefixes?.some((one) => number.startsWith(one))) return undefined
  if (country !== null && allow_countries?.includes(country)) return undefined
  const rule = allow_countries ? 'allow_countries' : 'allow_prefixes'
  if (allow_countries && country === null) return { rule, message: ofNoCountry(number) }
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

function quiet(
  number: string,
  country: string | null,
  { quiet_hours, zones: byPrefix }: DialPolicyConfig,
  now: number,
): Objection | undefined {
  if (!quiet_hours) return undefined
  const rule = 'quiet_hours'
  const zones = zonesOf(number, country, byPrefix)
  if (zones.length === 0) {
    return {
      rule,
      message: `${number} is not called: it does not tell what time it is where it rings, and there are quiet hours.`,
    }
  }
  const found = quietAt(now, zones, quiet_hours)
  if (!found) return undefined
  const until = quietUntil(now, zones, quiet_hours)
  const { from, to, days } = found.hours
  const hours = `quiet hours (${from} to ${to}${days ? `, beginning on ${days.join(', ')}` : ''})`
  const doubt =
    zones.length > 1
      ? ', one of the time zones it may ring in (the number does not tell which)'
      : ''
  return {
    rule,
    message: `${number} is not called now: it is ${found.clock} in ${found.zone}${doubt}, which is in the ${hours}.`,
    retryAfterSeconds: until === undefined ? null : Math.ceil((until - now) / 1000),
  }
}

const ofNoCountry = (number: string) =>
  `${number} is not called: it belongs to no country, and the policy goes by countries.`

const nameOf = (country: string) =>
  new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? country
