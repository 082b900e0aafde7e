import { bucketStart, bucketStarts } from '../../src/sandbox/calendar-buckets.ts'
import { isoInZone } from '../../src/text/time-zone.ts'
import { envelope, json, startFakePlatform } from './fake-platform.ts'

/** A completed conversation. */
export interface Counted {
  readonly at: string
  readonly seconds: number
  readonly agent?: string
  readonly subaccount?: string
}

/** Behaviours that the API's documentation leaves open. */
export interface UsageBehaviour {
  /** Buckets that begin before the range or end after it are counted in full. */
  readonly countsWholeBuckets?: boolean
  /** Buckets without usage are omitted. */
  readonly leavesOutEmpty?: boolean
}

/** Reply to another path; a number is an error status. */
type OtherReply = object | number | ((query: URLSearchParams) => object)

/**
 * A fake platform with usage of these conversations. `others`: replies by the end of the path,
 * which take precedence.
 */
export const startUsagePlatform = (
  conversations: readonly Counted[],
  behaviour: UsageBehaviour = {},
  others: Record<string, OtherReply> = {},
) =>
  startFakePlatform(
    (request, response) => {
      const { pathname, searchParams } = new URL(request.url, 'http://platform')
      const [, found] = Object.entries(others).find(([path]) => pathname.endsWith(path)) ?? []
      if (typeof found === 'number') json(response, found, envelope('internal_error', 'broken'))
      else if (typeof found === 'function') json(response, 200, found(searchParams))
      else if (found) json(response, 200, found)
      else if (pathname.endsWith('/analytics/usage'))
        json(response, 200, usageReply(conversations, behaviour, searchParams))
      else json(response, 200, { count: 0, items: [] })
    },
    { account: 'own' },
  )

function usageReply(
  conversations: readonly Counted[],
  { countsWholeBuckets = false, leavesOutEmpty = false }: UsageBehaviour,
  query: URLSearchParams,
) {
  const granularity = query.get('granularity') as 'hour' | 'day' | 'month'
  const tz = query.get('tz') ?? 'UTC'
  const end = query.has('end') ? Date.parse(String(query.get('end'))) : Date.now()
  const start = query.has('start') ? Date.parse(String(query.get('start'))) : end - 30 * 86_400_000
  const groupBy = query.getAll('group_by').flatMap((names) => names.split(','))
  const starts = [bucketStart(tz, granularity, start), ...bucketStarts(tz, granularity, start, end)]
  const nextOf = (at: number) =>
    bucketStarts(tz, granularity, Number(starts[at]), Number(starts[at]) + 33 * 86_400_000)[0] ??
    end
  const buckets = starts.map((ts, at) => {
    const until = nextOf(at)
    const within = conversations.filter(({ at: time }) => {
      const ms = Date.parse(time)
      const isAsked = countsWholeBuckets || (ms >= start && ms < end)
      return isAsked && ms >= ts && ms < until
    })
    return { ts: isoInZone(tz, ts), values: valuesOf(within, groupBy) }
  })
  const isKept = ({ values }: { values: { conversations: number }[] }) =>
    !leavesOutEmpty || values.some(({ conversations: count }) => count > 0)
  return {
    meta: { start: isoInZone(tz, start), end: isoInZone(tz, end), granularity, tz },
    data: buckets.filter(isKept).slice(-Number(query.get('limit') ?? 500)),
  }
}

function valuesOf(conversations: readonly Counted[], groupBy: readonly string[]) {
  const dimensionsOf = ({ agent, subaccount }: Counted) => {
    const all: Record<string, string | undefined> = { agent, subaccount, type: 'phone' }
    return Object.fromEntries(groupBy.map((name) => [name, all[name]]))
  }
  const groups = Map.groupBy(conversations, (one) => JSON.stringify(dimensionsOf(one)))
  if (groupBy.length === 0 && groups.size === 0) groups.set('{}', [])
  return [...groups].map(([key, group]) => ({
    seconds: group.reduce((sum, { seconds }) => sum + seconds, 0),
    conversations: group.length,
    dimensions: groupBy.length === 0 ? null : JSON.parse(key),
  }))
}

/** Reply of a list of calls, filtered by creation time, latest first. */
export const listedCalls =
  (calls: readonly { readonly created: string }[]) =>
  (query: URLSearchParams): object => {
    const [after, before] = ['created_after', 'created_before'].map((name) => query.get(name))
    const [limit, offset] = ['limit', 'offset'].map((name) => Number(query.get(name) ?? 0))
    const items = calls
      .filter(
        ({ created }) =>
          Date.parse(created) >= Date.parse(after ?? '1970-01-01') &&
          Date.parse(created) < Date.parse(before ?? '9999-01-01'),
      )
      .sort((one, other) => Date.parse(other.created) - Date.parse(one.created))
    return { count: items.length, items: items.slice(offset, Number(offset) + (limit || 100)) }
  }
