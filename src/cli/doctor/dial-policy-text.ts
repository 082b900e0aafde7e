import type { DialPolicyConfig, QuietHours } from '../../policy/dial-policy-config.ts'

/** A dial policy in words, one sentence per rule. */
export function policyInWords(policy: DialPolicyConfig): string[] {
  return [
    ...destinations(policy),
    ...(policy.allow_agents ? [`Only these agents call: ${policy.allow_agents.join(', ')}.`] : []),
    ...(policy.allow_from ? [`Calls come only from ${policy.allow_from.join(', ')}.`] : []),
    ...(policy.quiet_hours ?? []).map(quiet),
    ...limits(policy),
    'Emergency and premium numbers are never called.',
  ]
}

function destinations(policy: DialPolicyConfig): string[] {
  const { allow_countries, allow_prefixes, deny_countries, deny_prefixes } = policy
  const allowed = places(allow_countries, allow_prefixes)
  const denied = places(deny_countries, deny_prefixes)
  return [
    allowed === '' ? 'Calls go to any country.' : `Calls go only ${allowed}.`,
    ...(denied === '' ? [] : [`None goes ${denied}.`]),
  ]
}

const places = (countries: readonly string[] = [], prefixes: readonly string[] = []) =>
  [
    countries.length > 0 ? `to ${countries.map(nameOf).join(', ')}` : '',
    prefixes.length > 0 ? `to numbers that begin with ${prefixes.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join(' or ')

const nameOf = (country: string) =>
  new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? country

const quiet = ({ from, to, days }: QuietHours): string =>
  `No call is placed from ${from} to ${to} where the called telephone is${days ? `, beginning on ${days.join(', ')}` : ''}.`

const spans = [
  ['max_per_minute', 'a minute'],
  ['max_per_hour', 'an hour'],
  ['max_per_day', 'in 24 hours'],
  ['max_at_once', 'at once'],
  ['max_total', 'from the start of a server to its end'],
] as const

function limits(policy: DialPolicyConfig): string[] {
  const set = spans.flatMap(([rule, span]) => {
    const limit = policy[rule]
    return limit === undefined ? [] : [`${limit} ${span}`]
  })
  return set.length === 0 ? ['There is no limit of calls.'] : [`Most calls: ${set.join(', ')}.`]
}
