import type { Usage } from '../contract/usage.ts'
import { sumOf, type UsageSum } from '../views/usage-groups.ts'

type Bucket = Usage['data'][number]
type Totals = Pick<UsageSum, 'seconds' | 'conversations'>

/** The last seven whole days, and the seven days before. */
export interface Weeks {
  /** Midnights in ISO 8601 with the offset of that day: start of the week before, start and end of the week. */
  readonly before: string
  readonly from: string
  readonly until: string
  readonly tz: string
}

const day = 86_400_000

const totalsOf = (buckets: readonly Bucket[]): Totals => {
  const { seconds, conversations } = sumOf(buckets.flatMap(({ values }) => values))
  return { seconds, conversations }
}

/** The last two weeks of whole days in a time zone. A day begins at midnight of that zone. */
export function weeksBefore(now: number, tz: string): Weeks {
  // Counted in calendar days (UTC), because a day of the zone can have 23 or 25 hours.
  const today = Date.parse(dateOf(now, tz))
  const daysAgo = (days: number) => midnight(new Date(today - days * day).toISOString(), tz)
  return { before: daysAgo(14), from: daysAgo(7), until: daysAgo(0), tz }
}

/** The date of a time in a zone, such as `2026-11-21`. */
const dateOf = (ms: number, tz: string) => new Date(ms).toLocaleDateString('sv', { timeZone: tz })

function midnight(isoDay: string, tz: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: tz, timeZoneName: 'longOffset' })
  const offsetAt = (ms: number) => {
    const name = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value
    return name?.slice('GMT'.length) || '+00:00'
  }
  const local = isoDay.slice(0, 19)
  // The offset at UTC midnight gives the time approximately; the offset at that time is the right one.
  const about = Date.parse(`${local}${offsetAt(Date.parse(isoDay))}`)
  return `${local}${offsetAt(about)}`
}

/** Figures of both weeks: days, totals, and totals by each dimension, the largest first. */
export function usageFigures(
  { data }: Usage,
  { from, tz }: Weeks,
  nameOf: (id: string) => string | undefined,
) {
  const first = from.slice(0, 10)
  const dated = data.map((bucket) => ({ bucket, date: dateOf(Date.parse(bucket.ts), tz) }))
  const bucketsOf = (isWanted: (date: string) => boolean) =>
    dated.filter(({ date }) => isWanted(date)).map(({ bucket }) => bucket)
  const week = bucketsOf((date) => date >= first)
  const before = bucketsOf((date) => date < first)
  const days = Array.from({ length: 7 }, (_, index) =>
    new Date(Date.parse(first) + index * day).toISOString().slice(0, 10),
  )
  return {
    week: {
      totals: totalsOf(week),
      // The reply may leave out a day without conversations. It is shown with zeros.
      days: days.map((one) => ({ day: one, ...totalsOf(bucketsOf((date) => date === one)) })),
    },
    week_before: { totals: totalsOf(before) },
    by: groupsOf(week, before, nameOf),
  }
}

/** Most groups of one dimension. */
const mostGroups = 15

interface Group {
  readonly id: string
  week: Totals
  week_before: Totals
}

function groupsOf(
  week: readonly Bucket[],
  before: readonly Bucket[],
  nameOf: (id: string) => string | undefined,
) {
  const dimensions = new Map<string, Map<string, Group>>()
  const add = (buckets: readonly Bucket[], part: 'week' | 'week_before') => {
    for (const value of buckets.flatMap(({ values }) => values)) {
      for (const [dimension, given] of Object.entries(value.dimensions ?? {})) {
        const id = typeof given === 'string' ? given : JSON.stringify(given)
        const groups = dimensions.get(dimension) ?? new Map<string, Group>()
        dimensions.set(dimension, groups)
        const group = groups.get(id) ?? { id, week: noUsage, week_before: noUsage }
        groups.set(id, group)
        const { seconds, conversations } = group[part]
        group[part] = {
          seconds: seconds + value.seconds,
          conversations: conversations + value.conversations,
        }
      }
    }
  }
  add(week, 'week')
  add(before, 'week_before')
  return Object.fromEntries(
    [...dimensions].map(([dimension, groups]) => [
      dimension,
      { groups: groups.size, largest: largest([...groups.values()], nameOf) },
    ]),
  )
}

const noUsage: Totals = { seconds: 0, conversations: 0 }

const largest = (groups: Group[], nameOf: (id: string) => string | undefined) =>
  groups
    .sort(
      (a, b) => b.week.seconds - a.week.seconds || b.week_before.seconds - a.week_before.seconds,
    )
    .slice(0, mostGroups)
    .map(({ id, ...rest }) => ({ id, name: nameOf(id), ...rest }))
