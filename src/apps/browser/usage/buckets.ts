import { dateIn, midnightBefore } from '../../../text/time-zone.ts'
import { amountOf, isRunning, type Measure, sum, type UsageData, zoneOf } from './data.ts'
import { dimensionsIn, groupColours, keyOf, labelOf, maxColours } from './groups.ts'

/** Indexes of the first and the last of adjacent buckets. */
export interface BucketRange {
  readonly first: number
  readonly last: number
}

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

const granularityOf = ({ granularity }: UsageData['meta']): Granularity =>
  granularity === 'hour' || granularity === 'month' ? granularity : 'day'

/** `undefined` for a bucket that lies whole within the result's range and the past. */
function coverageOf(ts: string, meta: UsageData['meta']): Coverage | undefined {
  const [start, end] = [Date.parse(ts), Date.parse(endOf(ts, meta))]
  const [from, until] = [Date.parse(meta.start ?? ''), Date.parse(meta.end ?? '')]
  const now = Date.now()
  if (start < from) return 'in part'
  if (start <= now && now < end && isRunning(meta)) return 'so far'
  return until < end ? 'in part' : undefined
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
