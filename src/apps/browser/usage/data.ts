import * as z from 'zod/mini'
import { firstCharacters, plainText } from '../../../text/safe-text.ts'

const Sum = z.looseObject({ seconds: z.number(), minutes: z.number(), conversations: z.number() })

const Value = z.looseObject({
  seconds: z.number(),
  conversations: z.number(),
  dimensions: z.nullish(z.record(z.string(), z.unknown())),
  before: z.optional(Sum),
  change: z.optional(Sum),
  percent: z.nullish(z.number()),
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
    change: z.optional(Sum),
    percent: z.nullish(z.number()),
  }),
  compared_with: z.optional(z.looseObject({ start: z.string(), end: z.string() })),
  names: z.optional(z.record(z.string(), z.record(z.string(), z.string()))),
  note: z.optional(z.string()),
  data: z.array(z.looseObject({ ts: z.string(), values: z.array(Value) })),
})
export type UsageData = z.output<typeof UsageData>
type Value = z.output<typeof Value>

/** Measures of the chart and the table. */
export const measures = { minutes: 'Minutes', conversations: 'Conversations' } as const
export type Measure = keyof typeof measures

/** Values of one group, one per bucket. */
interface Series {
  readonly label: string
  readonly values: readonly number[]
  readonly total: number
}

export interface UsageSeries {
  /** Bucket starts in the requested zone. */
  readonly times: readonly string[]
  /** Most used first; groups beyond the number of colours are merged into one. */
  readonly series: readonly Series[]
  readonly isGrouped: boolean
}

const maxSeries = 8

/** Converts the buckets into one series per group. */
export function seriesOf({ data, names }: UsageData, measure: Measure): UsageSeries {
  const rows = new Map<string, number[]>()
  const labels = new Map<string, string>()
  for (const [at, { values }] of data.entries()) {
    for (const value of values) {
      const key = keyOf(value)
      const row = rows.get(key) ?? new Array<number>(data.length).fill(0)
      row[at] = (row[at] ?? 0) + amountOf(value, measure)
      rows.set(key, row)
      labels.set(key, labelOf(value, names))
    }
  }
  const all = [...rows]
    .map(([key, values]) => ({ label: labels.get(key) ?? '', values, total: sum(values) }))
    .sort((one, other) => other.total - one.total)
  const isGrouped = data.some(({ values }) => values.some(({ dimensions }) => dimensions))
  const times = data.map(({ ts }) => ts)
  if (all.length <= maxSeries) return { times, series: all, isGrouped }
  const rest = all.slice(maxSeries - 1)
  const values = times.map((_, at) => sum(rest.map((one) => one.values[at] ?? 0)))
  const others = { label: `${rest.length} others`, values, total: sum(values) }
  return { times, series: [...all.slice(0, maxSeries - 1), others], isGrouped }
}

/** Totals per group, for a result without buckets. */
export interface Group extends Pick<Value, 'before' | 'change' | 'percent'> {
  readonly label: string
  readonly minutes: number
  readonly conversations: number
}

export const groupsOf = ({ data, names }: UsageData): Group[] =>
  data
    .flatMap(({ values }) => values)
    .map((value) => ({
      label: labelOf(value, names),
      minutes: amountOf(value, 'minutes'),
      conversations: value.conversations,
      before: value.before,
      change: value.change,
      percent: value.percent,
    }))

const amountOf = ({ seconds, conversations }: Value, measure: Measure) =>
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
