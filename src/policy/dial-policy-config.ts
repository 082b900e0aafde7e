import * as z from 'zod'
import { closestWord } from '../text/closest-match.ts'
import { DuplicateKeyError, parseJsonText } from '../text/json.ts'
import { e164Expected, e164PrefixExpected, e164PrefixPattern } from '../text/phone-number.ts'
import { messageOf } from '../text/safe-text.ts'
import { isTimeZone } from '../text/time-zone.ts'

const Prefix = z
  .string()
  .regex(e164PrefixPattern, { error: ({ input }) => e164PrefixExpected(input) })

const CallerNumber = z
  .string()
  .regex(/^\+[1-9]\d{4,14}$/, { error: ({ input }) => e164Expected(input) })

/**
 * Regions that have a name but no phone numbers. libphonenumber never returns such a region, so a
 * rule for it would never apply.
 */
const withoutNumbers = new Set(
  'AQ BV CP CQ DG EA EU EZ GS HM IC PN QO TF UM UN XA XB ZZ'.split(' '),
)

/**
 * A country as ISO 3166-1 alpha-2, the form that libphonenumber returns. An alias, such as UK, is
 * replaced by its country.
 */
const Country = z.string().transform((text, context) => {
  const region = /^[a-z]{2}$/i.test(text) ? new Intl.Locale(`und-${text}`).region : undefined
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  if (region && names.of(region) !== undefined && !withoutNumbers.has(region)) return region
  context.addIssue(`Expected a country with telephone numbers, such as DE or US, not ${text}`)
  return z.NEVER
})

/** A list with at least one item. An empty list could mean everything or nothing. */
const listOf = <T extends z.ZodType>(item: T) =>
  z.array(item).min(1, { error: 'Expected at least one; leave the field out instead' })

/** Accepts one item in place of a list. */
const oneOrSeveral = <T extends z.ZodType>(list: T) =>
  z.preprocess((given) => (Array.isArray(given) ? given : [given]), list)

/** A time of day, local at the called number. */
const ClockTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, { error: 'Expected a time such as 21:00' })

/** Prefix of the agent names in `allow_agents`. Entries without this prefix are ids. */
export const agentNamePrefix = 'name:'

const AllowedAgent = z
  .string()
  .min(1)
  .refine((entry) => entry !== agentNamePrefix, {
    error: 'Expected the name of an agent after name:',
  })

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** A daily period without calls, in the time zone of the called number. */
export const QuietHours = z
  .strictObject({
    /** First minute without calls. */
    from: ClockTime,
    /**
     * First minute with calls again. If not after `from`, it is on the next day. 24:00 is the end
     * of the day.
     */
    to: ClockTime,
    /** Weekdays on which the period begins; default: every day. */
    days: listOf(z.enum(weekdays)).optional(),
  })
  .refine(({ from, to }) => from !== to && from !== '24:00', {
    error: 'Expected from and to to differ; 00:00 to 24:00 is the whole day',
  })
export type QuietHours = z.output<typeof QuietHours>

const Zone = z
  .string()
  .refine(isTimeZone, { error: 'Expected a time zone such as America/New_York' })

/** Time zones by number prefix, one or several each. */
const PrefixZones = z.record(Prefix, oneOrSeveral(listOf(Zone)))
export type PrefixZones = z.output<typeof PrefixZones>

/** Maximum number of calls; 0 stops all calls. */
const Limit = z.int().min(0).max(1_000_000)

/**
 * The operator's dial policy. An absent field restricts nothing. Emergency and premium numbers are
 * never dialled, whatever the policy says. Denials override allowances. A number is allowed if it
 * is in either list of allowed destinations (prefixes, countries). The limits count all calls of
 * the servers that share a call counter.
 */
export const DialPolicyConfig = z.strictObject({
  /** Numbers with these prefixes may be dialled. */
  allow_prefixes: listOf(Prefix).optional(),
  /** Numbers with these prefixes may not be dialled. */
  deny_prefixes: listOf(Prefix).optional(),
  /** Numbers of these countries may be dialled. */
  allow_countries: listOf(Country).optional(),
  /** Numbers of these countries may not be dialled. */
  deny_countries: listOf(Country).optional(),
  /**
   * Agents that may place calls: ids, or exact names as `name:…`. An assistant can rename agents.
   */
  allow_agents: listOf(AllowedAgent).optional(),
  /** Allowed caller numbers. */
  allow_from: listOf(CallerNumber).optional(),
  /** Periods without calls, one or several. */
  quiet_hours: oneOrSeveral(listOf(QuietHours).max(14)).optional(),
  /**
   * Time zones by number prefix, for quiet hours. They replace the built-in zones of area codes.
   * The longest matching prefix counts.
   */
  zones: PrefixZones.optional(),
  /** Maximum calls in any 60 seconds. */
  max_per_minute: Limit.optional(),
  /** Maximum calls in any 60 minutes. */
  max_per_hour: Limit.optional(),
  /** Maximum calls in any 24 hours. */
  max_per_day: Limit.optional(),
  /** Maximum concurrent calls. */
  max_at_once: Limit.optional(),
  /** Maximum calls from start to end of this server process. */
  max_total: Limit.optional(),
})
export type DialPolicyConfig = z.output<typeof DialPolicyConfig>

/** The dial policy is invalid. The message names the source, the field, and the correct form. */
export class DialPolicyError extends Error {
  override readonly name = 'DialPolicyError'
}

/** Parses a policy from JSON. `source`: origin of the text, for errors. Throws DialPolicyError. */
export function parseDialPolicy(text: string, source: string): DialPolicyConfig {
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw unusable(source, error.message)
    throw new DialPolicyError(
      `The dial policy (${source}) is not JSON: ${messageOf(error)}. Write an object such as {"allow_countries": ["DE"], "max_per_hour": 10}.`,
    )
  }
  const parsed = DialPolicyConfig.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.flatMap(problemsOf)
  throw unusable(source, problems.join('; '))
}

const unusable = (source: string, problems: string) =>
  new DialPolicyError(
    `The dial policy (${source}) cannot be used: ${problems}. Correct it and start again.`,
  )

function problemsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.')
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => `${path}: ${message}`)
  if (issue.code !== 'unrecognized_keys') return [`${path || 'the whole'}: ${issue.message}`]
  const known = Object.keys((path ? QuietHours : DialPolicyConfig).shape)
  return issue.keys.map((key) => {
    const meant = closestWord(key, known)
    const hint = meant ? `did you mean ${meant}?` : `the fields are ${known.join(', ')}`
    return `${path ? `${path}.` : ''}${key}: unknown field; ${hint}`
  })
}
