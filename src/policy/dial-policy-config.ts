import * as z from 'zod'
import { closestWord } from '../text/closest-match.ts'
import { DuplicateKeyError, parseJsonText } from '../text/json.ts'
import { e164Expected, e164PrefixExpected, e164PrefixPattern } from '../text/phone-number.ts'
import { isTimeZone } from '../text/time-zone.ts'

const Prefix = z
  .string()
  .regex(e164PrefixPattern, { error: ({ input }) => e164PrefixExpected(input) })

const CallerNumber = z
  .string()
  .regex(/^\+[1-9]\d{4,14}$/, { error: ({ input }) => e164Expected(input) })

/**
 * Regions with a name but without telephone numbers. libphonenumber never returns one, so a rule
 * with one would never apply.
 */
const withoutNumbers = new Set(
  'AQ BV CP CQ DG EA EU EZ GS HM IC PN QO TF UM UN XA XB ZZ'.split(' '),
)

/** ISO 3166-1 alpha-2 as libphonenumber returns it; aliases of a country (UK) are normalized. */
const Country = z.string().transform((text, context) => {
  const region = /^[a-z]{2}$/i.test(text) ? new Intl.Locale(`und-${text}`).region : undefined
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  if (region && names.of(region) !== undefined && !withoutNumbers.has(region)) return region
  context.addIssue(`Expected a country with telephone numbers, such as DE or US, not ${text}`)
  return z.NEVER
})

/** An empty list is refused: it could mean everything or nothing. */
const listOf = <T extends z.ZodType>(item: T) =>
  z.array(item).min(1, { error: 'Expected at least one; leave the field out instead' })

/** Local time at the called number. */
const ClockTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, { error: 'Expected a time such as 21:00' })

/** The prefix of names in `allow_agents`; all other entries are ids. */
export const agentNamePrefix = 'name:'

const AllowedAgent = z
  .string()
  .min(1)
  .refine((entry) => entry !== agentNamePrefix, {
    error: 'Expected the name of an agent after name:',
  })

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** A time without calls, in the time zone of the called number. */
export const QuietHours = z
  .strictObject({
    /** First minute. */
    from: ClockTime,
    /** First minute after the end; at or before `from` it is on the next day. 24:00 ends a day. */
    to: ClockTime,
    /** Weekdays on which the quiet hours begin; default: every day. */
    days: listOf(z.enum(weekdays)).optional(),
  })
  .refine(({ from, to }) => from !== to && from !== '24:00', {
    error: 'Expected from and to to differ; 00:00 to 24:00 is the whole day',
  })
export type QuietHours = z.output<typeof QuietHours>

const Zone = z
  .string()
  .refine(isTimeZone, { error: 'Expected a time zone such as America/New_York' })

/** Time zones by number prefix; one zone or several. */
const PrefixZones = z.record(
  Prefix,
  z.preprocess((given) => (Array.isArray(given) ? given : [given]), listOf(Zone)),
)
export type PrefixZones = z.output<typeof PrefixZones>

/** Maximum number of calls; 0 stops all calls. */
const Limit = z.int().min(0).max(1_000_000)

/**
 * The operator's dial policy. An absent field restricts nothing, but emergency and premium numbers
 * are never dialled. Deny wins over allow; the two lists of allowed destinations form a union.
 * Limits count all calls of a shared call counter.
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
  /** Agents that may call: ids, and exact names as `name:…`. Assistants can change names. */
  allow_agents: listOf(AllowedAgent).optional(),
  /** Allowed caller numbers. */
  allow_from: listOf(CallerNumber).optional(),
  /** Times without calls; one or several. */
  quiet_hours: z
    .preprocess((given) => (Array.isArray(given) ? given : [given]), listOf(QuietHours).max(14))
    .optional(),
  /**
   * Time zones of number prefixes, for quiet hours, in place of the known area codes. The longest
   * prefix counts.
   */
  zones: PrefixZones.optional(),
  /** Calls in any 60 seconds. */
  max_per_minute: Limit.optional(),
  /** Calls in any 60 minutes. */
  max_per_hour: Limit.optional(),
  /** Calls in any 24 hours. */
  max_per_day: Limit.optional(),
  /** Concurrent calls. */
  max_at_once: Limit.optional(),
  /** Calls of one run of this server. */
  max_total: Limit.optional(),
})
export type DialPolicyConfig = z.output<typeof DialPolicyConfig>

/** The dial policy cannot be used. The message names the place, the field, and the correct form. */
export class DialPolicyError extends Error {
  override readonly name = 'DialPolicyError'
}

/** Reads a policy from JSON text; `source` says where it is, for errors. Throws DialPolicyError. */
export function parseDialPolicy(text: string, source: string): DialPolicyConfig {
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw unusable(source, error.message)
    const reason = error instanceof Error ? error.message : String(error)
    throw new DialPolicyError(
      `The dial policy (${source}) is not JSON: ${reason}. Write an object such as {"allow_countries": ["DE"], "max_per_hour": 10}.`,
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
