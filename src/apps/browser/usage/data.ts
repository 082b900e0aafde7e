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

/** What get_usage returns, as far as the view shows it. */
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

/** What the chart and the table show of each value. */
export const measures = { minutes: 'Minutes', conversations: 'Conversations' } as const
export type Measure = keyof typeof measures

/** The values of one group, one for each bucket. */
interface Series {
  readonly label: string
  readonly values: readonly number[]
  readonly total: number
}

export interface UsageSeries {
  /** Starts of the buckets, in the zone asked for. */
  readonly times: readonly string[]
  /** The most used first; more groups than there are colours are one. */
  readonly series: readonly Series[]
  readonly isGrouped: boolean
}

const maxSeries = 8

/** The buckets as one row of numbers for each group. */
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

/** One sum for each group, where the result has no buckets. */
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

/** Longest name of a group, in characters: names of agents have up to 50. */
const longestLabel = 80

/** Names in place of ids, where they are known. Names are texts of other people. */
function labelOf({ dimensions }: Value, names: UsageData['names']): string {
  const parts = Object.entries(dimensions ?? {}).map(([dimension, value]) => {
    const id = String(value)
    const label = plainText(names?.[dimension]?.[id] ?? id) || id
    return label.length > longestLabel ? `${firstCharacters(label, longestLabel)}…` : label
  })
  return parts.join(', ') || 'All'
}

/*
 * uPlot makes a number format of the browser's language when it is loaded. Where a browser runs in the
 * locale POSIX, its language is `en-US@posix`, which is no language tag: the view would not start.
 */
try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' })
}
