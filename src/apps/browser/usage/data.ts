import * as z from 'zod/mini'
import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { dateIn, isTimeZone, midnightBefore } from '../../../text/time-zone.ts'
import type { Formats } from '../shared/formats.ts'

const Sum = z.looseObject({ seconds: z.number(), minutes: z.number(), conversations: z.number() })

const Value = z.looseObject({
  seconds: z.number(),
  conversations: z.number(),
  dimensions: z.nullish(z.record(z.string(), z.unknown())),
  before: z.optional(Sum),
})

/** Result of get_usage, as far as the view shows it. */
export const UsageData = z.looseObject({
  meta: z.looseObject({
    start: z.nullish(z.string()),
    end: z.nullish(z.string()),
    granularity: z.nullish(z.string()),
    tz: z.nullish(z.string()),
  }),
  totals: z.looseObject({
    ...Sum.shape,
    before: z.optional(Sum),
  }),
  compared_with: z.optional(z.looseObject({ start: z.string(), end: z.string() })),
  names: z.optional(z.record(z.string(), z.record(z.string(), z.string()))),
  data: z.array(z.looseObject({ ts: z.string(), values: z.array(Value) })),
})
export type UsageData = z.output<typeof UsageData>
type Value = z.output<typeof Value>
type Measured = 'seconds' | 'conversations'

/** Time zone of the result; UTC if this browser does not know it. */
export const zoneOf = ({ tz }: UsageData['meta']): string => (tz && isTimeZone(tz) ? tz : 'UTC')

/** Times for which the result has no buckets, although they contain conversations. */
export interface MissingTimes {
  /**
   * ISO 8601 start of the missing times if they follow the buckets; `undefined` if they precede
   * them.
   */
  readonly next: string | undefined
}

/**
 * `undefined` if no buckets are missing: they add up to the totals, which cover the whole range.
 */
export function missingTimes({ meta, data, totals }: UsageData): MissingTimes | undefined {
  const counted = sum(data.flatMap(({ values }) => values.map((value) => value.conversations)))
  const last = data.at(-1)
  if (!last || counted >= totals.conversations) return undefined
  const next = endOf(last.ts, meta)
  return { next: Date.parse(next) < Date.parse(meta.end ?? '') ? next : undefined }
}

/** End of the bucket that begins at `ts`, ISO 8601; empty if `ts` is no time. */
function endOf(ts: string, meta: UsageData['meta']): string {
  const start = Date.parse(ts)
  if (Number.isNaN(start)) return ''
  const zone = zoneOf(meta)
  const daysIntoMonth = (ms: number) => Number(dateIn(ms, zone).slice(8)) - 1
  switch (granularityOf(meta)) {
    case 'hour':
      return new Date(start + 3_600_000).toISOString()
    case 'day':
      return midnightBefore(start, -1, zone)
    case 'month': {
      // The date 32 days after the first of a month is in the next month.
      const inNext = Date.parse(midnightBefore(start, daysIntoMonth(start) - 32, zone))
      return midnightBefore(inNext, daysIntoMonth(inNext), zone)
    }
  }
}

/** True if an agent or a subaccount has no known name, and is shown by its id. */
export const lacksNames = ({ data, names }: UsageData): boolean =>
  data.some(({ values }) =>
    values.some(({ dimensions }) =>
      Object.entries(dimensions ?? {}).some(
        ([dimension, id]) => dimension !== 'type' && names?.[dimension]?.[String(id)] === undefined,
      ),
    ),
  )

/** Measures of the chart and the table. */
export const measures = { minutes: 'Minutes', conversations: 'Conversations' } as const
export type Measure = keyof typeof measures

/** Formats an amount. Minutes always have one decimal. */
export const amountIn = (measure: Measure, amount: number, formats: Formats, isSigned = false) =>
  formats.fixed(amount, { decimals: measure === 'minutes' ? 1 : 0, isSigned })

/** Values of one group, one per bucket. */
interface Series {
  readonly label: string
  readonly values: readonly number[]
  readonly total: number
}

type Granularity = 'hour' | 'day' | 'month'

export interface UsageSeries {
  readonly granularity: Granularity
  /** Bucket starts in the requested zone. */
  readonly times: readonly string[]
  /** Groups beyond the number of colours are merged into one. */
  readonly series: readonly Series[]
  readonly isGrouped: boolean
  /** Totals of all series, one per bucket. */
  readonly totals: readonly number[]
  /** Index of the current, incomplete bucket; -1 if there is none. */
  readonly running: number
}

const maxSeries = 8

/** Converts the buckets into one series per group, those with the most minutes first. */
export function seriesOf({ meta, data, names }: UsageData, measure: Measure): UsageSeries {
  const rows = new Map<string, number[]>()
  const seconds = new Map<string, number>()
  const labels = new Map<string, string>()
  for (const [at, { values }] of data.entries()) {
    for (const value of values) {
      const key = keyOf(value)
      const row = rows.get(key) ?? new Array<number>(data.length).fill(0)
      row[at] = (row[at] ?? 0) + amountOf(value, measure)
      rows.set(key, row)
      seconds.set(key, (seconds.get(key) ?? 0) + value.seconds)
      labels.set(key, labelOf(value, names))
    }
  }
  // Sorted by minutes for either measure, so that a group keeps its colour.
  const secondsOf = ([key]: [string, unknown]) => seconds.get(key) ?? 0
  const all = [...rows]
    .sort((one, other) => secondsOf(other) - secondsOf(one))
    .map(([key, values]) => ({ label: labels.get(key) ?? '', values, total: sum(values) }))
  const times = data.map(({ ts }) => ts)
  const sumsOf = (ones: readonly Series[]) =>
    times.map((_, at) => sum(ones.map(({ values }) => values[at] ?? 0)))
  const rest = all.length > maxSeries ? all.slice(maxSeries - 1) : []
  const values = sumsOf(rest)
  const others = { label: `${rest.length} others`, values, total: sum(values) }
  return {
    granularity: granularityOf(meta),
    times,
    series: rest.length > 0 ? [...all.slice(0, maxSeries - 1), others] : all,
    isGrouped: data.some((bucket) => bucket.values.some(({ dimensions }) => dimensions)),
    totals: sumsOf(all),
    running: times.findIndex((ts) => isRunning(ts, meta)),
  }
}

const granularityOf = ({ granularity }: UsageData['meta']): Granularity =>
  granularity === 'hour' || granularity === 'month' ? granularity : 'day'

/** True for the bucket that contains the present, in the result's time zone. */
function isRunning(ts: string, meta: UsageData['meta']): boolean {
  const now = Date.now()
  const granularity = granularityOf(meta)
  if (granularity === 'hour') {
    const start = Date.parse(ts)
    return start <= now && now < start + 3_600_000
  }
  const zone = zoneOf(meta)
  const characters = granularity === 'month' ? 7 : 10
  return dateIn(now, zone).slice(0, characters) === ts.slice(0, characters)
}

/** Totals per group, for a result without buckets. */
export interface Group {
  readonly label: string
  readonly minutes: number
  readonly conversations: number
  /** Totals in the compared period. */
  readonly before: Readonly<Record<Measure, number>> | undefined
}

export const groupsOf = ({ data, names }: UsageData): Group[] =>
  data
    .flatMap(({ values }) => values)
    .map((value) => ({
      label: labelOf(value, names),
      minutes: amountOf(value, 'minutes'),
      conversations: value.conversations,
      before: value.before && {
        minutes: amountOf(value.before, 'minutes'),
        conversations: value.before.conversations,
      },
    }))

const amountOf = ({ seconds, conversations }: Pick<Value, Measured>, measure: Measure) =>
  measure === 'minutes' ? seconds / 60 : conversations

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

const keyOf = ({ dimensions }: Value) =>
  JSON.stringify(Object.entries(dimensions ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)))

/** Maximum length of a group's name, characters; agents' names have up to 50. */
const longestLabel = 80

/** Names instead of ids, if known. Names are untrusted text. */
function labelOf({ dimensions }: Value, names: UsageData['names']): string {
  const parts = Object.entries(dimensions ?? {}).map(([dimension, value]) => {
    const id = String(value)
    const label = plainText(names?.[dimension]?.[id] ?? id) || id
    return label.length > longestLabel ? `${firstCharacters(label, longestLabel)}…` : label
  })
  return parts.join(', ') || 'All'
}

/*
 * uPlot creates a number format in the browser's language on load. In the locale POSIX that is
 * `en-US@posix`, which is no language tag: the view would not start.
 */
try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' })
}
