import * as z from 'zod'
import { callableExpected, e164Expected, e164Pattern } from '../text/phone-number.ts'

/** An id. The platform uses UUID v4 today; the schema accepts any non-empty string [R]. */
export const id = (what: string) => z.string().min(1).describe(what)

/** Path parameter of every route within an account. `me` is the API key's own account [B]. */
export const accountParams = {
  account_id: id('Account or subaccount id. Default me: the account of the API key.'),
}

/**
 * A request field with a default that the platform applies. The client never sends the default,
 * because that would turn a partial update into a full one. The sandbox fills the default in.
 */
export const withDefault = <T extends z.ZodType>(schema: T, value: z.output<T>) =>
  schema.optional().meta({ default: value })

/** A telephone number in E.164 [B]. `expected` returns the error text for any other text. */
export const e164 = (what: string, expected = e164Expected) =>
  z
    .string()
    .regex(e164Pattern, { error: ({ input }) => expected(input) })
    .describe(what)

/** A phone number to call. Its error text says that emergency numbers are never called. */
export const numberToCall = (what: string) => e164(what, callableExpected)

/** An instant as ISO 8601 with a UTC offset. Filters respect the offset [R]. */
export const instant = (what: string) =>
  z.iso.datetime({ offset: true, error: ({ input }) => instantExpected(input) }).describe(what)

/**
 * Error text for a text that is not an instant. A date without a time is not an instant: its time
 * zone is unknown and, as the end of a range, it may include or exclude that day.
 */
function instantExpected(given: unknown): string {
  const day = dayOf(given)
  return day === undefined
    ? 'Expected an ISO 8601 date-time with a time zone, such as 2026-11-01T09:00:00Z'
    : `Expected a date-time with a time zone: that day begins at ${day}T00:00:00Z in UTC; for another zone give its offset in place of Z, such as +01:00`
}

/** The date of a day without a time, such as `2026-11-01`, `today` or `yesterday`. */
function dayOf(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined
  const word = given.toLowerCase()
  if (Object.hasOwn(daysFromToday, word))
    return new Date(Date.now() + Number(daysFromToday[word]) * dayMs).toISOString().slice(0, 10)
  return z.iso.date().safeParse(given).data
}

const dayMs = 86_400_000
const daysFromToday: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 }

/** Times of creation and last change, as in replies. */
export const timestamps = {
  created: z.string().nullish().describe('Creation, ISO 8601.'),
  modified: z.string().nullish().describe('Last change, ISO 8601.'),
}

/** Number of items that a list returns if `limit` is absent [R]. */
export const defaultPageLimit = 100

/** Offset pagination of every list. `limit` ≥ 1 [B], default 100 [R]. `offset` ≥ 0, default 0. */
export const pageQuery = {
  limit: withDefault(z.int().min(1).describe('Maximum items.'), defaultPageLimit),
  offset: withDefault(z.int().min(0).describe('Items to skip.'), 0),
}

/**
 * One page of a list. `count` is the number of all matches, not of the returned items [B]. It is
 * optional, because for agents and conversations only the reference has it [R].
 */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.looseObject({
    count: z.int().optional().describe('Number of matches on all pages.'),
    items: z.array(item).describe('Items of this page.'),
  })

/** The documented defaults of a schema's fields, as one object. */
export function documentedDefaults(schema: z.ZodObject): Record<string, unknown> {
  const defaults: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.shape)) {
    const value = defaultOf(field)
    if (value !== undefined) defaults[name] = value
  }
  return defaults
}

function defaultOf(field: z.core.$ZodType): unknown {
  const documented = z.globalRegistry.get(field)?.default
  if (documented !== undefined) return documented
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable)
    return defaultOf(field.unwrap())
  if (!(field instanceof z.ZodObject)) return undefined
  const nested = documentedDefaults(field)
  return Object.keys(nested).length > 0 ? nested : undefined
}
