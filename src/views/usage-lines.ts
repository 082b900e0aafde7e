import { nameWithId } from '../text/closest-match.ts'
import { byUse, sumOf, type UsageGroup, type UsageSum, type UsageValue } from './usage-groups.ts'
import type { UsageReport } from './usage-report.ts'

type Bucket = UsageReport['data'][number]

/** The range with its totals, then one line for each group, the most used first. */
export function headLines(report: UsageReport): string[] {
  const { meta, totals, groups, comparedWith, zone } = report
  const range = rangeInWords({ start: meta.start, end: meta.end }, zone)
  const grouped = groups.filter(({ dimensions }) => dimensions !== null)
  return [
    `${range}: ${sumInWords(totals)} completed conversations, subaccounts included.`,
    ...(comparedWith ? comparisonLines(report, comparedWith) : []),
    ...grouped.map(
      (group) => `- ${labelOf(group, report, nameWithId)}: ${groupInWords(group, totals)}`,
    ),
  ]
}

function comparisonLines(
  { meta, totals, zone, groupBy }: UsageReport,
  compared: NonNullable<UsageReport['comparedWith']>,
): string[] {
  const { before } = totals
  if (!before) return []
  const lengths = [
    Date.parse(String(meta.end)) - Date.parse(String(meta.start)),
    compared.end - compared.start,
  ].map((ms) => ms / 86_400_000)
  const [now = 0, earlier = 0] = lengths
  return [
    `Compared with ${rangeInWords(compared, zone)}: ${sumInWords(before)}. Change: ${changeInWords(totals)}.${groupBy.length > 0 ? unusedNote : ''}`,
    ...(Math.abs(now - earlier) > 0.05 * earlier
      ? [
          `The times have ${tenth(now)} and ${tenth(earlier)} days: ${tenth(totals.minutes / now)} against ${tenth(before.minutes / earlier)} min a day.`,
        ]
      : []),
  ]
}

/** The platform gives no group without use, so nothing is known of those. */
const unusedNote = ' What has no use in either time is not listed.'

const tenth = (value: number) => String(Math.round(value * 10) / 10)

const sumInWords = ({ minutes, seconds, conversations }: UsageSum) =>
  `${minutes} min (${seconds} s), ${conversations}`

const groupInWords = (group: UsageGroup, totals: UsageSum) =>
  group.before
    ? `${sumInWords(group)}; before ${sumInWords(group.before)}; ${changeInWords(group)}`
    : `${sumInWords(group)}${totals.seconds > 0 ? `; ${tenth((group.seconds / totals.seconds) * 100)} %` : ''}`

function changeInWords({ change, percent }: Partial<UsageGroup>): string {
  if (!change) return ''
  const { minutes, conversations } = change
  const inPercent = percent === null || percent === undefined ? '' : ` (${signed(percent)} %)`
  return `${signed(minutes)} min${inPercent}, ${signed(conversations)}`
}

const signed = (value: number) => (value > 0 ? `+${value}` : String(value))

/** A line, and the index of the first bucket in it. */
interface BucketRow {
  readonly text: string
  readonly first: number
}

/** A line for each bucket; a run of buckets without use is one line. */
export function bucketRows(report: UsageReport): BucketRow[] {
  const rows: BucketRow[] = []
  const { data } = report
  for (let first = 0; first < data.length; ) {
    let end = first
    while (end < data.length && isUnused(data[end])) end++
    const [from, to] = [data[first], data[Math.max(first, end - 1)]]
    if (!from || !to) break
    rows.push({
      first,
      text: end > first ? unusedRow([from, to], end - first, report) : bucketRow(from, report),
    })
    first = Math.max(end, first + 1)
  }
  return rows
}

const isUnused = (bucket: Bucket | undefined) =>
  bucket?.values.every(({ seconds, conversations }) => seconds === 0 && conversations === 0)

function unusedRow([from, to]: [Bucket, Bucket], count: number, report: UsageReport): string {
  const start = bucketInWords(from, report)
  return count === 1
    ? `${start}: none`
    : `${start} to ${bucketInWords(to, report)}: none (${count})`
}

function bucketRow(bucket: Bucket, report: UsageReport): string {
  const parts = [...bucket.values]
    .sort(byUse)
    .filter(({ dimensions }) => dimensions)
    .map((value) => `${labelOf(value, report, shortLabel(report))} ${sumInWords(sumOf([value]))}`)
  const sum = `${bucketInWords(bucket, report)}: ${sumInWords(sumOf(bucket.values))}`
  return parts.length > 0 ? `${sum} = ${parts.join('; ')}` : sum
}

/** `Mon 2026-11-09`, `2026-11`, or the hour with its offset, which tells repeated hours apart. */
function bucketInWords({ ts }: Bucket, { meta: { granularity } }: UsageReport): string {
  const [, date = '', time = '', offset = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*(Z|[+-].*)?$/.exec(ts) ?? []
  if (!date) return ts
  if (granularity === 'month' && date.endsWith('-01')) return date.slice(0, 7)
  const weekday = new Date(`${date}T00:00:00Z`).toUTCString().slice(0, 3)
  if (granularity === 'day') return `${weekday} ${date}${time === '00:00' ? '' : ` from ${time}`}`
  return `${date} ${time}${offset === 'Z' ? '' : offset}`
}

/** What a group or a value is of: names beside ids. */
function labelOf(
  { dimensions }: Pick<UsageGroup, 'dimensions'> | Pick<UsageValue, 'dimensions'>,
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

/** The name alone where no other id has it: the lines of the groups have the ids. */
const shortLabel =
  ({ names }: UsageReport) =>
  (name: string | undefined, id: string): string => {
    if (name === undefined) return id
    const all = [...names.agent.values(), ...names.subaccount.values()]
    return all.filter((one) => one === name).length === 1 ? name : nameWithId(name, id)
  }

/** `2026-11-01 00:00 to 2026-11-22 04:56 Europe/Berlin` */
function rangeInWords({ start, end }: { start: unknown; end: unknown }, zone: string): string {
  return `${timeInWords(start, zone)} to ${timeInWords(end, zone)} ${zone}`
}

/** A time as its zone has it; as the platform gives it where it is no time. */
function timeInWords(time: unknown, timeZone: string): string {
  const ms = typeof time === 'number' ? time : Date.parse(String(time))
  if (Number.isNaN(ms)) return String(time ?? '?')
  return new Date(ms).toLocaleString('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })
}
