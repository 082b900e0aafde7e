import * as z from 'zod/mini'
import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { dateIn, isTimeZone, midnightBefore } from '../../../text/time-zone.ts'
import type { Formats } from '../shared/formats.ts'
import { groupColours, maxColours } from './group-colours.ts'

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
  switch (granularityOf(meta)) {
    case 'hour':
      return new Date(start + 3_600_000).toISOString()
    case 'day':
      return midnightBefore(start, -1, zone)
    case 'month':
      return startOfMonth(start, 1, zone)
  }
}

/**
 * Start, ISO 8601, of the month `months` months (-12 to 12) after the month of the time `ms`, in a
 * time zone.
 */
export function startOfMonth(ms: number, months: number, zone: string): string {
  const daysIntoMonth = (at: number) => Number(dateIn(at, zone).slice(8)) - 1
  // From the middle of a month, months of average length lead into the wanted one.
  const days = daysIntoMonth(ms) - 15 - Math.round(months * 30.4)
  const middle = Date.parse(midnightBefore(ms, days, zone))
  return midnightBefore(middle, daysIntoMonth(middle), zone)
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
  /** Number of the colour in the style sheet. */
  readonly colour: number
  readonly values: readonly number[]
  readonly total: number
}

type Granularity = 'hour' | 'day' | 'month'

export type Coverage = 'in part' | 'so far'

export interface UsageSeries {
  readonly granularity: Granularity
  /** Bucket starts in the requested zone. */
  readonly times: readonly string[]
  /** In the order of their colours. Groups beyond the number of colours are merged into one. */
  readonly series: readonly Series[]
  readonly isGrouped: boolean
  /** Totals of all series, one per bucket. */
  readonly totals: readonly number[]
  /**
   * Buckets that the result does not cover whole, by index: those at the range's ends, and the
   * current one.
   */
  readonly partial: ReadonlyMap<number, Coverage>
}

/** Converts the buckets into one series per group, of the groups with the most minutes. */
export function seriesOf({ meta, data, names }: UsageData, measure: Measure): UsageSeries {
  const groups = new Map<string, { label: string; seconds: number; values: number[] }>()
  for (const [at, { values }] of data.entries()) {
    for (const value of values) {
      const key = keyOf(value)
      const group = groups.get(key) ?? {
        ...{ label: labelOf(value, names), seconds: 0 },
        values: new Array<number>(data.length).fill(0),
      }
      group.values[at] = (group.values[at] ?? 0) + amountOf(value, measure)
      group.seconds += value.seconds
      groups.set(key, group)
    }
  }
  const sorted = [...groups].sort(([, one], [, other]) => other.seconds - one.seconds)
  const colours = groupColours(
    sorted.map(([key]) => key),
    dimensionsIn(data),
  )
  const all = sorted.map(([, { label, values }], at) => ({
    ...{ label, values, total: sum(values) },
    colour: colours[at] ?? maxColours,
  }))
  const times = data.map(({ ts }) => ts)
  const sumsOf = (ones: readonly Series[]) =>
    times.map((_, at) => sum(ones.map(({ values }) => values[at] ?? 0)))
  const rest = all.length > maxColours ? all.slice(maxColours - 1) : []
  const values = sumsOf(rest)
  const others = { label: `${rest.length} others`, colour: maxColours, values, total: sum(values) }
  const shown = rest.length > 0 ? [...all.slice(0, maxColours - 1), others] : all
  return {
    granularity: granularityOf(meta),
    times,
    series: shown.sort((one, other) => one.colour - other.colour),
    isGrouped: dimensionsIn(data) !== '',
    totals: sumsOf(all),
    partial: new Map(
      times.flatMap((ts, at) => {
        const coverage = coverageOf(ts, meta)
        return coverage ? [[at, coverage]] : []
      }),
    ),
  }
}

/** Names of the dimensions by which a result is split, with commas between them. */
const dimensionsIn = (data: UsageData['data']): string =>
  Object.keys(data.flatMap(({ values }) => values)[0]?.dimensions ?? {}).join()

const granularityOf = ({ granularity }: UsageData['meta']): Granularity =>
  granularity === 'hour' || granularity === 'month' ? granularity : 'day'

/** A range that ended at most this long ago, ms, ends now. */
const recent = 600_000

/** True if the range of a result reaches to the present. */
export const isRunning = ({ end }: UsageData['meta']): boolean =>
  Date.parse(end ?? '') >= Date.now() - recent

/** `undefined` for a bucket that lies whole within the result's range and the past. */
function coverageOf(ts: string, meta: UsageData['meta']): Coverage | undefined {
  const [start, end] = [Date.parse(ts), Date.parse(endOf(ts, meta))]
  const [from, until] = [Date.parse(meta.start ?? ''), Date.parse(meta.end ?? '')]
  const now = Date.now()
  if (start < from) return 'in part'
  if (start <= now && now < end && isRunning(meta)) return 'so far'
  return until < end ? 'in part' : undefined
}

/** Names of the dimensions by which usage can be split. */
export const groupings = { agent: 'Agent', subaccount: 'Subaccount', type: 'Type' }

/** Heading of the groups' names. */
export function groupingOf({ data }: UsageData): string {
  const names: Readonly<Record<string, string>> = groupings
  const dimensions = dimensionsIn(data).split(',')
  return dimensions.map((dimension) => names[dimension] ?? dimension).join(', ') || 'Group'
}

/** Totals per group, for a result without buckets. */
export interface Group {
  readonly label: string
  /** Number of the colour in the style sheet. */
  readonly colour: number
  readonly minutes: number
  readonly conversations: number
  /** Totals in the compared period. */
  readonly before: Readonly<Record<Measure, number>> | undefined
}

/** The groups, the most used first. */
export function groupsOf({ data, names }: UsageData): Group[] {
  const values = data.flatMap((bucket) => bucket.values)
  values.sort((one, other) => other.seconds - one.seconds)
  const colours = groupColours(values.map(keyOf), dimensionsIn(data))
  return values.map((value, at) => ({
    label: labelOf(value, names),
    colour: colours[at] ?? maxColours,
    minutes: amountOf(value, 'minutes'),
    conversations: value.conversations,
    before: value.before && {
      minutes: amountOf(value.before, 'minutes'),
      conversations: value.before.conversations,
    },
  }))
}

const amountOf = ({ seconds, conversations }: Pick<Value, Measured>, measure: Measure) =>
  measure === 'minutes' ? seconds / 60 : conversations

/**
 * Merges `size` buckets each into one: hours from midnight on, days from the first on. A last one
 * of fewer days is a part.
 */
export function mergeBuckets(data: UsageSeries, size: number): UsageSeries {
  if (size === 1) return data
  const keyOf = (ts: string, at: number) =>
    data.granularity === 'hour'
      ? `${ts.slice(0, 10)} ${Math.floor(Number(ts.slice(11, 13)) / size)}`
      : Math.floor(at / size)
  const keys = data.times.map(keyOf)
  const isFirst = (at: number) => keys[at] !== keys[at - 1]
  const mergeAmounts = (amounts: readonly number[]) =>
    amounts.reduce<number[]>((merged, amount, at) => {
      merged.push(amount + (isFirst(at) ? 0 : (merged.pop() ?? 0)))
      return merged
    }, [])
  const firsts = data.times.flatMap((_, at) => (isFirst(at) ? [at] : []))
  const isShort = data.granularity === 'day' && data.times.length % size > 0
  return {
    ...data,
    times: firsts.map((at) => data.times[at] ?? ''),
    series: data.series.map((one) => ({ ...one, values: mergeAmounts(one.values) })),
    totals: mergeAmounts(data.totals),
    partial: new Map([
      ...(isShort ? [[firsts.length - 1, 'in part'] as const] : []),
      ...[...data.partial].map(
        ([at, coverage]) => [firsts.findLastIndex((first) => first <= at), coverage] as const,
      ),
    ]),
  }
}

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
