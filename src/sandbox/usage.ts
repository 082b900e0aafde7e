import * as z from 'zod'
import { routes } from '../contract/routes.ts'
import { type Grouping, groupings, type Usage, usageBucketCap } from '../contract/usage.ts'
import { withinAccount } from './accounts.ts'
import { bucketStart, bucketStarts, isoInZone, isTimeZone } from './buckets.ts'
import { on } from './handler.ts'
import { invalid } from './problem.ts'

const defaultSpan = 30 * 24 * 3_600_000

/** Longest a bucket can be, ms: how far back the newest buckets of a range can reach. */
const longestBucket = { hour: 3_600_000 * 2, day: 3_600_000 * 49, month: 3_600_000 * 24 * 32 }

const UsageRow = z.object({
  created: z.int(),
  duration_seconds: z.number(),
  agent: z.string(),
  subaccount: z.string(),
  type: z.string(),
})
type UsageRow = z.output<typeof UsageRow>

type Value = Usage['data'][number]['values'][number]

/** Completed conversations of an account and its subaccounts, by start. */
const completed = `
SELECT created, duration_seconds, agent_id AS agent, account_id AS subaccount, type FROM calls
WHERE ${withinAccount} AND outcome = 'completed' AND ended <= :now
AND created >= :start AND created < :end`

export const usageHandlers = [
  on(routes.usage.get, ({ store, account, query, now }) => {
    const { granularity = 'day', tz = 'UTC', limit = usageBucketCap } = query
    if (!isTimeZone(tz)) throw invalid('query.tz', `${tz} is no IANA time zone.`)
    const end = query.end === undefined ? now : Date.parse(query.end)
    const start = query.start === undefined ? end - defaultSpan : Date.parse(query.start)
    if (start >= end) throw invalid('query.start', 'start must be before end.')
    const groupBy = groupings.filter((grouping) => query.group_by?.includes(grouping))

    // Only the newest buckets are kept, so nothing older needs to be looked at.
    const reach = Math.max(start, end - longestBucket[granularity] * limit)
    const starts = [
      bucketStart(tz, granularity, reach),
      ...bucketStarts(tz, granularity, reach, end),
    ].slice(-limit)
    const from = Math.max(start, starts[0] ?? start)
    const rows = store.all(UsageRow, completed, { account: account.id, now, start: from, end })
    const buckets = fill(starts, rows, groupBy)
    return {
      meta: {
        account_id: account.id,
        start: isoInZone(tz, start),
        end: isoInZone(tz, end),
        granularity,
        group_by: groupBy,
        tz,
      },
      data: starts.map((ts, index) => ({
        ts: isoInZone(tz, ts),
        values: [...(buckets[index]?.values() ?? [])],
      })),
    }
  }),
]

/** Adds up rows per bucket and group. */
function fill(starts: number[], rows: UsageRow[], groupBy: Grouping[]): Map<string, Value>[] {
  const buckets = starts.map(() => new Map<string, Value>())
  if (groupBy.length === 0) {
    for (const bucket of buckets) {
      bucket.set('', { seconds: 0, conversations: 0, dimensions: null })
    }
  }
  for (const row of rows) {
    const bucket = buckets[indexAt(starts, row.created)]
    if (!bucket) continue
    const key = groupBy.map((grouping) => row[grouping]).join(' ')
    let value = bucket.get(key)
    if (!value) {
      const dimensions = Object.fromEntries(groupBy.map((grouping) => [grouping, row[grouping]]))
      value = { seconds: 0, conversations: 0, dimensions }
      bucket.set(key, value)
    }
    value.seconds += row.duration_seconds
    value.conversations += 1
  }
  return buckets
}

/** Index of the last start at or before an instant; -1 when there is none. */
function indexAt(starts: number[], ms: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? Number.POSITIVE_INFINITY) <= ms) low = middle + 1
    else high = middle
  }
  return low - 1
}
