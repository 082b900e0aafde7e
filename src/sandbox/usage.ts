import * as z from 'zod'
import { routes } from '../contract/routes.ts'
import { type Grouping, groupings, type Usage, usageBucketCap } from '../contract/usage.ts'
import { isoInZone, isTimeZone } from '../text/time-zone.ts'
import { withinAccount } from './accounts.ts'
import { bucketStart, bucketStarts } from './calendar-buckets.ts'
import { on } from './operation-handler.ts'
import { invalid } from './problem.ts'
import type { Store } from './store.ts'

const hour = 3_600_000
const defaultSpan = 30 * 24 * hour

/**
 * Upper bound of a bucket's length, ms. Limits how far back calls are read for the newest buckets.
 */
const longestBucket = { hour: 2 * hour, day: 49 * hour, month: 32 * 24 * hour }

type Value = Usage['data'][number]['values'][number]

export const usageHandlers = [
  on(routes.usage.get, ({ store, account, query, now }) => {
    const { granularity = 'day', tz = 'UTC', limit = usageBucketCap } = query
    if (!isTimeZone(tz)) throw invalid('query.tz', `${tz} is no IANA time zone.`)
    const end = query.end === undefined ? now : Date.parse(query.end)
    const start = query.start === undefined ? end - defaultSpan : Date.parse(query.start)
    if (start >= end) throw invalid('query.start', 'start must be before end.')
    const groupBy = groupings.filter((grouping) => query.group_by?.includes(grouping))

    // Only the newest buckets are returned; older calls are not read.
    const reach = Math.max(start, end - longestBucket[granularity] * limit)
    const starts = [
      bucketStart(tz, granularity, reach),
      ...bucketStarts(tz, granularity, reach, end),
    ].slice(-limit)
    const from = Math.max(start, starts[0] ?? start)
    const counted = sums(store, { account: account.id, now, from, end, starts, groupBy })
    return {
      meta: {
        account_id: account.id,
        start: isoInZone(tz, start),
        end: isoInZone(tz, end),
        granularity,
        group_by: groupBy,
        tz,
      },
      data: valuesByBucket(counted, starts, groupBy).map(({ ts, values }) => ({
        ts: isoInZone(tz, ts),
        values,
      })),
    }
  }),
]

/** Number and total seconds of conversations, all in the bucket that contains the instant `at`. */
const Sum = z.object({
  at: z.int(),
  conversations: z.int(),
  seconds: z.number(),
  agent: z.string(),
  subaccount: z.string(),
  type: z.string(),
})
type Sum = z.output<typeof Sum>

interface SumQuery {
  account: string
  now: number
  from: number
  end: number
  starts: number[]
  groupBy: Grouping[]
}

/**
 * Yields sums that add up to the usage. Whole hours within one bucket come from the hourly table,
 * other hours from single calls. Both include calls that have not ended, so these follow as negative
 * sums.
 */
function* sums(store: Store, query: SumQuery): Generator<Sum> {
  const { account, now, from, end, starts, groupBy } = query
  const columns = { agent: 'agent_id', subaccount: 'account_id', type: 'type' }
  const groups = groupings
    .map((name) => `${groupBy.includes(name) ? columns[name] : "''"} AS ${name}`)
    .join(', ')

  const split = splitHours([from, ...starts, end], from, end)
  yield* store.all(
    Sum,
    `SELECT hour * ${hour} AS at, sum(conversations) AS conversations, sum(seconds) AS seconds,
     ${groups} FROM usage_hours
     WHERE ${withinAccount(':account')} AND hour >= :first AND hour < :last
     AND hour NOT IN (SELECT value FROM json_each(:split))
     GROUP BY 1, 4, 5, 6`,
    {
      account,
      first: Math.ceil(from / hour),
      last: Math.floor(end / hour),
      split: JSON.stringify(split),
    },
  )
  // Planned outcome: a row has it before the call has ended.
  const ofCalls = `SELECT created AS at, 1 AS conversations, duration_seconds AS seconds, ${groups}
    FROM calls WHERE ${withinAccount(':account')} AND outcome = 'completed'
    AND created >= :from AND created < :end`
  for (const part of split) {
    const within = { from: Math.max(from, part * hour), end: Math.min(end, (part + 1) * hour) }
    yield* store.all(Sum, ofCalls, { account, ...within })
  }
  // Few calls are open at a time: the index on their end finds them without a scan of the range.
  const ofOpenCalls = ofCalls.replace('FROM calls', 'FROM calls INDEXED BY calls_ended')
  for (const sum of store.all(Sum, `${ofOpenCalls} AND ended > :now`, {
    account,
    now,
    from,
    end,
  })) {
    yield { ...sum, conversations: -1, seconds: -sum.seconds }
  }
}

/** Hours within which a bucket or the whole range begins or ends. */
function splitHours(edges: number[], from: number, end: number): number[] {
  const split = edges.filter((edge) => edge % hour !== 0 && edge >= from && edge <= end)
  return [...new Set(split.map((edge) => Math.floor(edge / hour)))]
}

/** Adds sums up by bucket and group. */
function valuesByBucket(counted: Iterable<Sum>, starts: number[], groupBy: Grouping[]) {
  const buckets = starts.map((ts) => ({ ts, groups: new Map<string, Value>() }))
  for (const sum of counted) {
    const groups = buckets[indexAt(starts, sum.at)]?.groups
    if (!groups) continue
    const key = groupBy.map((grouping) => sum[grouping]).join(' ')
    const dimensions = groupBy.map((grouping) => [grouping, sum[grouping]])
    const value = groups.get(key) ?? {
      seconds: 0,
      conversations: 0,
      dimensions: Object.fromEntries(dimensions),
    }
    value.seconds += sum.seconds
    value.conversations += sum.conversations
    groups.set(key, value)
  }
  const nothing = { seconds: 0, conversations: 0 }
  return buckets.map(({ ts, groups }) => {
    const values = [...groups.values()]
    const whole = [{ ...nothing, ...values[0], dimensions: null }]
    const counts = values.filter(({ conversations }) => conversations > 0)
    return { ts, values: groupBy.length === 0 ? whole : counts }
  })
}

/** Index of the last start at or before an instant, or -1. */
function indexAt(starts: readonly number[], ms: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? Number.POSITIVE_INFINITY) <= ms) low = middle + 1
    else high = middle
  }
  return low - 1
}
