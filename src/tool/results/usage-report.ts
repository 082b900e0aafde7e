import * as z from 'zod'
import { Usage } from '../../contract/usage.ts'
import { nameWithId } from '../../text/labels.ts'
import { timeIn } from '../../text/time-zone.ts'
import { firstFitting } from '../../text/token-estimate.ts'
import type { OutputWithLines, StructuredContent } from '../tool.ts'
import { resultBudget } from './shortening.ts'

export const Sum = z.object({
  seconds: z.number().describe('Conversation time, seconds.'),
  minutes: z.number().describe('The same in minutes, rounded.'),
  conversations: z.number().describe('Completed conversations.'),
})

/** Number and duration of completed conversations. */
export type UsageSum = Readonly<z.output<typeof Sum>>

/** One value of a bucket, as in the platform's reply. */
export type UsageValue = Usage['data'][number]['values'][number]

/**
 * Change against the compared range. `percent` refers to the seconds; null if the compared range
 * has none.
 */
interface UsageChange {
  readonly before: UsageSum
  readonly change: UsageSum
  readonly percent: number | null
}

/** The sum of one group. `dimensions` is null if usage is not grouped. */
export interface UsageGroup extends UsageSum, Partial<UsageChange> {
  readonly dimensions: Readonly<Record<string, unknown>> | null
}

/** Result of get_usage. Each value also has the fields of `totals`. */
export const UsageResult = Usage.extend({
  totals: Sum.extend({
    before: Sum.optional().describe('In the compared time.'),
    change: Sum.optional().describe('Difference.'),
    percent: z.number().nullish().describe('Change of seconds; null: there were none before.'),
  }).describe('Of the whole range.'),
  compared_with: z.object({ start: z.string(), end: z.string() }).optional(),
  names: z
    .record(z.string(), z.record(z.string(), z.string()))
    .optional()
    .describe('Names of agents and subaccounts by id.'),
  note: z.string().optional().describe('What was left out, and how to get it.'),
})

/** Tokens reserved for the notes and the account after the lines. */
const spareTokens = 300

/**
 * Usage as data and as text. If a series is long, both have only its first buckets; the totals
 * still cover all buckets.
 */
export function usageResult(report: UsageReport): OutputWithLines {
  const head = headLines(report)
  const rows = report.isSeries ? bucketRows(report) : []
  const lines = [...head, ...rows.map(({ text }) => text)]
  const fitting = firstFitting(lines, resultBudget - spareTokens, String).length
  const inText = rows[Math.max(1, fitting - head.length)]?.first ?? report.data.length
  const data = report.isSeries ? report.data.map(withMinutes) : report.data
  const next = Math.min(inText, firstFitting(data, dataBudget, JSON.stringify).length)
  const notes = [
    ...(report.isPart ? [partNote(report.data)] : []),
    ...(next < report.data.length ? [shortenedNote(report.data, next)] : []),
    ...(report.names.note ? [report.names.note] : []),
  ]
  const shown = rows.filter(({ first }) => first < next)
  return {
    structured: contentOf(report, data.slice(0, next), notes),
    lines: [...head, ...shown.map(({ text }) => text), ...notes],
  }
}

/**
 * Approximate maximum tokens of the buckets as data. The data are longer than the lines, and some
 * clients show both.
 */
const dataBudget = 1.2 * resultBudget

function contentOf(
  { meta, rest, totals, comparedWith, names, groupBy }: UsageReport,
  data: Usage['data'],
  notes: readonly string[],
): StructuredContent {
  const named = Object.entries({ agent: names.agent, subaccount: names.subaccount })
    .filter(([dimension]) => groupBy.includes(dimension))
    .map(([dimension, byId]) => [dimension, Object.fromEntries(byId)])
  return {
    ...rest,
    meta,
    totals,
    ...(comparedWith && {
      compared_with: { start: isoOf(comparedWith.start), end: isoOf(comparedWith.end) },
    }),
    ...(named.length > 0 && { names: Object.fromEntries(named) }),
    ...(notes.length > 0 && { note: notes.join(' ') }),
    data,
  }
}

export const isoOf = (ms: number) => new Date(ms).toISOString()

const withMinutes = ({ ts, values, ...rest }: Usage['data'][number]) => ({
  ts,
  ...rest,
  values: values.map((value) => ({ ...value, ...sumOf([value]) })),
})

const partNote = (data: Usage['data']) =>
  `The platform gives at most ${data.length} buckets, these from ${data[0]?.ts} to ${data.at(-1)?.ts}; totals are of the whole range.`

const shortenedNote = (data: Usage['data'], next: number) =>
  `Shortened to ${next} of ${data.length} buckets: go on with start = ${data[next]?.ts}, or take a coarser granularity. totals are of all.`

/** Usage of a time range, as the result shows it. */
export interface UsageReport {
  /** Other fields of the platform's reply. */
  readonly rest: Readonly<Record<string, unknown>>
  readonly meta: Usage['meta']
  readonly data: Usage['data']
  /** Totals of the whole range. */
  readonly totals: Omit<UsageGroup, 'dimensions'>
  /** Groups of the whole range, most used first. */
  readonly groups: readonly UsageGroup[]
  readonly groupBy: readonly string[]
  readonly zone: string
  /** True: `data` has buckets. False: it has totals. */
  readonly isSeries: boolean
  /** True if `data` lacks buckets, because the platform limits their number. */
  readonly isPart: boolean
  /** The range to compare with, Unix ms. */
  readonly comparedWith?: { readonly start: number; readonly end: number }
  readonly names: UsageNames
}

/** Names of agents and accounts by id. */
export interface UsageNames {
  readonly agent: ReadonlyMap<string, string>
  readonly subaccount: ReadonlyMap<string, string>
  /** Note about ids without a known name, and the reason. */
  readonly note: string | undefined
}

type Bucket = UsageReport['data'][number]

/** The first lines: the time range with its totals, then one line per group, most used first. */
function headLines(report: UsageReport): string[] {
  const { meta, totals, groups, zone } = report
  const grouped = groups.filter(({ dimensions }) => dimensions !== null)
  return [
    `${rangeInWords(meta, zone)}: ${sumInWords(totals)} completed conversations, subaccounts included.`,
    ...comparisonLines(report),
    ...grouped.map(
      (group) => `- ${labelOf(group, report, nameWithId)}: ${groupInWords(group, totals)}`,
    ),
  ]
}

const dayMs = 86_400_000

function comparisonLines({ meta, totals, comparedWith, zone, groupBy }: UsageReport): string[] {
  const { before } = totals
  if (!before || !comparedWith) return []
  const now = (Date.parse(String(meta.end)) - Date.parse(String(meta.start))) / dayMs
  const earlier = (comparedWith.end - comparedWith.start) / dayMs
  return [
    `Compared with ${rangeInWords(comparedWith, zone)}: ${sumInWords(before)}. Change: ${changeInWords(totals)}.${groupBy.length > 0 ? unusedNote : ''}`,
    ...(Math.abs(now - earlier) > 0.05 * earlier
      ? [
          `The periods have ${rounded(now, 1)} and ${rounded(earlier, 1)} days: ${tenth(totals.minutes / now)} against ${tenth(before.minutes / earlier)} min a day.`,
        ]
      : []),
  ]
}

/** The platform omits groups without usage. */
const unusedNote = ' Groups without use in both periods are not listed.'

/** A number with one decimal, for minutes and percentages. */
const tenth = (value: number) => rounded(value, 1).toFixed(1)

const sumInWords = ({ minutes, seconds, conversations }: UsageSum) =>
  `${tenth(minutes)} min (${seconds} s), ${conversations}`

const groupInWords = (group: UsageGroup, totals: UsageSum) =>
  group.before
    ? `${sumInWords(group)}; before ${sumInWords(group.before)}; ${changeInWords(group)}`
    : `${sumInWords(group)}${totals.seconds > 0 ? `; ${tenth((group.seconds / totals.seconds) * 100)} %` : ''}`

function changeInWords({ change, percent }: Partial<UsageGroup>): string {
  if (!change) return ''
  const { minutes, conversations } = change
  const inPercent =
    percent === null || percent === undefined ? '' : ` (${signed(percent, tenth(percent))} %)`
  return `${signed(minutes, tenth(minutes))} min${inPercent}, ${signed(conversations)}`
}

export const signed = (value: number, text = String(value)) => (value > 0 ? `+${text}` : text)

/** One line of the report. `first`: index of the first bucket in the line. */
interface BucketRow {
  readonly text: string
  readonly first: number
}

/** One line per bucket. Consecutive buckets without usage share a line. */
function bucketRows(report: UsageReport): BucketRow[] {
  const rows: BucketRow[] = []
  const { data } = report
  const label = bucketLabels(report)
  for (let first = 0; first < data.length; ) {
    let end = first
    while (end < data.length && isUnused(data[end])) end++
    const [from, to] = [data[first], data[Math.max(first, end - 1)]]
    if (!from || !to) break
    rows.push({
      first,
      text:
        end > first ? unusedRow([from, to], end - first, label) : bucketRow(from, report, label),
    })
    first = Math.max(end, first + 1)
  }
  return rows
}

const isUnused = (bucket: Bucket | undefined) =>
  bucket?.values.every(({ seconds, conversations }) => seconds === 0 && conversations === 0)

function unusedRow([from, to]: [Bucket, Bucket], count: number, label: BucketLabel): string {
  const start = label(from)
  return count === 1 ? `${start}: none` : `${start} to ${label(to)}: none (${count})`
}

function bucketRow(bucket: Bucket, report: UsageReport, label: BucketLabel): string {
  const parts = [...bucket.values]
    .sort(byUse)
    .filter(({ dimensions }) => dimensions)
    .map((value) => `${labelOf(value, report, shortLabel(report))} ${sumInWords(sumOf([value]))}`)
  const sum = `${label(bucket)}: ${sumInWords(sumOf(bucket.values))}`
  return parts.length > 0 ? `${sum} = ${parts.join('; ')}` : sum
}

type BucketLabel = (bucket: Bucket) => string

/**
 * Labels of buckets: `Mon 2026-11-09`, `2026-11`, or the hour. An hour shows its UTC offset only
 * where the offset changes, so that repeated hours differ. Labels must be requested in the order of
 * the buckets.
 */
function bucketLabels({ meta: { granularity } }: UsageReport): BucketLabel {
  let shownOffset = 'Z'
  return ({ ts }) => {
    const [, date = '', time = '', offset = 'Z'] =
      /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*(Z|[+-].*)?$/.exec(ts) ?? []
    if (!date) return ts
    if (granularity === 'month' && date.endsWith('-01')) return date.slice(0, 7)
    const weekday = new Date(`${date}T00:00:00Z`).toUTCString().slice(0, 3)
    if (granularity === 'day') return `${weekday} ${date}${time === '00:00' ? '' : ` from ${time}`}`
    const shown = offset === shownOffset ? '' : offset
    shownOffset = offset
    return `${date} ${time}${shown}`
  }
}

/** Label of a group or a value: names and ids. */
function labelOf(
  { dimensions }: Pick<UsageValue, 'dimensions'>,
  { names, groupBy }: UsageReport,
  inWords: (name: string | undefined, id: string) => string,
): string {
  const known = Object.entries(dimensions ?? {})
  const order = (dimension: string) => groupBy.indexOf(dimension)
  return known
    .sort(([a], [b]) => order(a) - order(b))
    .map(([dimension, value]) => {
      const id = String(value)
      if (dimension !== 'agent' && dimension !== 'subaccount') return id
      return inWords(names[dimension].get(id), id)
    })
    .join(', ')
}

/**
 * A label for buckets: the name alone if it is unique, because the lines of the groups show the
 * ids.
 */
const shortLabel =
  ({ names }: UsageReport) =>
  (name: string | undefined, id: string): string => {
    if (name === undefined) return id
    const all = [...names.agent.values(), ...names.subaccount.values()]
    return all.filter((one) => one === name).length === 1 ? name : nameWithId(name, id)
  }

/** A range in words: `2026-11-01 00:00 to 2026-11-22 04:56 Europe/Berlin`. */
export function rangeInWords(
  { start, end }: { start?: unknown; end?: unknown },
  zone: string,
): string {
  return `${timeInWords(start, zone)} to ${timeInWords(end, zone)} ${zone}`
}

/** A time in its zone. A text that is not a time stays unchanged. */
function timeInWords(time: unknown, timeZone: string): string {
  const ms = typeof time === 'number' ? time : Date.parse(String(time))
  if (Number.isNaN(ms)) return String(time ?? '?')
  return timeIn(ms, timeZone)
}

/* Sums, and groups of values with the same dimensions. */

const rounded = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits

/** Rounds minutes to a tenth. Sums of fractional seconds would have many digits. */
const usageSum = (seconds: number, conversations: number): UsageSum => ({
  seconds: rounded(seconds, 3),
  minutes: rounded(seconds / 60, 1),
  conversations,
})

type Counted = Pick<UsageSum, 'seconds' | 'conversations'>

export const sumOf = (values: readonly Counted[]): UsageSum =>
  usageSum(
    values.reduce((sum, { seconds }) => sum + seconds, 0),
    values.reduce((sum, { conversations }) => sum + conversations, 0),
  )

/** Sorts by usage, most used first. */
const byUse = (a: Counted, b: Counted): number =>
  b.seconds - a.seconds || b.conversations - a.conversations

/** One sum per group of values, most used first. */
export function usageGroups(values: readonly UsageValue[]): UsageGroup[] {
  const groups = Map.groupBy(values, groupKey)
  return [...groups.values()]
    .map((group) => ({ ...sumOf(group), dimensions: group[0]?.dimensions ?? null }))
    .sort(byUse)
}

/** Group key of a value, independent of the order of dimensions. */
const groupKey = ({ dimensions }: Pick<UsageGroup, 'dimensions'> | UsageValue): string =>
  JSON.stringify(Object.entries(dimensions ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))

export const changeOf = (now: UsageSum, before: UsageSum): UsageChange => ({
  before,
  change: usageSum(now.seconds - before.seconds, now.conversations - before.conversations),
  percent: before.seconds === 0 ? null : rounded((now.seconds / before.seconds - 1) * 100, 1),
})

/**
 * Puts the groups of two ranges side by side. A group that is missing in one range has no usage
 * there.
 */
export function compareGroups(
  now: readonly UsageGroup[],
  before: readonly UsageGroup[],
): UsageGroup[] {
  const nothing = usageSum(0, 0)
  const earlier = new Map(before.map((group) => [groupKey(group), group]))
  const known = new Set(now.map(groupKey))
  const gone = before
    .filter((group) => !known.has(groupKey(group)))
    .map(({ dimensions }) => ({ ...nothing, dimensions }))
  return [...now, ...gone].map((group) => {
    const { dimensions: _, ...sum } = { ...nothing, ...earlier.get(groupKey(group)) }
    return { ...group, ...changeOf(group, sum) }
  })
}
