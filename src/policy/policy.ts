import * as z from 'zod'
import { DoubledNameError, parseJsonText } from '../json/unique-keys.ts'
import { closestWord } from '../text/closest-match.ts'

/** The dial policy cannot be used; the message says where it is, which field, and what to write. */
export class DialPolicyError extends Error {
  override readonly name = 'DialPolicyError'
}

/** How an E.164 number begins: at least the first digit of a country calling code. */
const Prefix = z
  .string()
  .regex(/^\+[1-9]\d{0,14}$/, { error: 'Expected the start of an E.164 number such as +49' })

const CallerNumber = z
  .string()
  .regex(/^\+[1-9]\d{4,14}$/, { error: 'Expected an E.164 number such as +4930123456' })

/**
 * Regions that have a name and no numbers of their own. libphonenumber gives none of them as a
 * number's country, so a rule that named one would never apply, and nobody would notice.
 */
const withoutNumbers = new Set(
  'AQ BV CP CQ DG EA EU EZ GS HM IC PN QO TF UM UN XA XB ZZ'.split(' '),
)

/** ISO 3166-1 alpha-2, as libphonenumber gives them; other spellings of one (UK) are put right. */
const Country = z.string().transform((text, context) => {
  const region = /^[a-z]{2}$/i.test(text) ? new Intl.Locale(`und-${text}`).region : undefined
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  if (region && names.of(region) !== undefined && !withoutNumbers.has(region)) return region
  context.addIssue(`Expected a country with telephone numbers, such as DE or US, not ${text}`)
  return z.NEVER
})

/** A list that is there says something: an empty one would be a mistake or a riddle. */
const listOf = <T extends z.ZodType>(item: T) =>
  z.array(item).min(1, { error: 'Expected at least one; leave the field out instead' })

/** A time of the day on the clock of the called person. */
const ClockTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, { error: 'Expected a time such as 21:00' })

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** A time in which nobody is called, by the clock where the telephone rings. */
const QuietHours = z
  .strictObject({
    /** First minute of it. */
    from: ClockTime,
    /** First minute after it; at or before `from` it is on the next day. 24:00 ends a day. */
    to: ClockTime,
    /** Days on which it begins. Absent: every day. */
    days: listOf(z.enum(weekdays)).optional(),
  })
  .refine(({ from, to }) => from !== to && from !== '24:00', {
    error: 'Expected from and to to differ; 00:00 to 24:00 is the whole day',
  })
export type QuietHours = z.output<typeof QuietHours>

/** An IANA time zone; one that begins with a sign is an offset, which knows no summer time. */
const Zone = z.string().refine(isZone, { error: 'Expected a time zone such as America/New_York' })

function isZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/** Time zones by the beginnings of numbers; one zone or several. */
const PrefixZones = z.record(
  Prefix,
  z.preprocess((given) => (Array.isArray(given) ? given : [given]), listOf(Zone)),
)
export type PrefixZones = z.output<typeof PrefixZones>

/** Calls; 0 allows none, which is how an operator stops calling. */
const Limit = z.int().min(0).max(1_000_000)

/**
 * What the operator lets assistants dial. Whatever is left out restricts nothing, except that
 * emergency and premium numbers are never dialled. Of two that match, deny wins over allow; the
 * two lists of allowed destinations add up. Limits count all calls that share a call counter.
 */
export const DialPolicyConfig = z.strictObject({
  /** Numbers that begin so may be dialled. */
  allow_prefixes: listOf(Prefix).optional(),
  /** Numbers that begin so may not. */
  deny_prefixes: listOf(Prefix).optional(),
  /** Numbers of these countries may be dialled. */
  allow_countries: listOf(Country).optional(),
  /** Numbers of these countries may not. */
  deny_countries: listOf(Country).optional(),
  /** Agents that may call, by id or exact name. Ids are safer: an assistant can change names. */
  allow_agents: listOf(z.string().min(1)).optional(),
  /** Caller numbers that may be used. */
  allow_from: listOf(CallerNumber).optional(),
  /** When nobody is called; one time or several. */
  quiet_hours: z
    .preprocess((given) => (Array.isArray(given) ? given : [given]), listOf(QuietHours).max(14))
    .optional(),
  /**
   * Where numbers that begin so ring, for quiet hours: instead of the area codes known here. The
   * longest prefix of a number counts.
   */
  zones: PrefixZones.optional(),
  /** Calls in any 60 seconds. */
  max_per_minute: Limit.optional(),
  /** Calls in any 60 minutes. */
  max_per_hour: Limit.optional(),
  /** Calls in any 24 hours. */
  max_per_day: Limit.optional(),
  /** Calls under way at the same time. */
  max_at_once: Limit.optional(),
  /** Calls from the start of this server to its end. */
  max_total: Limit.optional(),
})
export type DialPolicyConfig = z.output<typeof DialPolicyConfig>

/** Reads a policy from JSON text; `source` says where it is, for errors. Throws DialPolicyError. */
export function parseDialPolicy(text: string, source: string): DialPolicyConfig {
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    if (error instanceof DoubledNameError) throw unusable(source, error.message)
    const reason = error instanceof Error ? error.message : String(error)
    throw new DialPolicyError(
      `The dial policy (${source}) is no JSON: ${reason}. Write an object such as {"allow_countries": ["DE"], "max_per_hour": 10}.`,
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
  if (issue.code !== 'unrecognized_keys') return [`${path || 'the whole'}: ${issue.message}`]
  const known = Object.keys((path ? QuietHours : DialPolicyConfig).shape)
  return issue.keys.map((key) => {
    const meant = closestWord(key, known)
    const hint = meant ? `did you mean ${meant}?` : `known are ${known.join(', ')}`
    return `${path ? `${path}.` : ''}${key}: no such field; ${hint}`
  })
}
