import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { type Usage, usageBucketCap } from '../../contract/usage.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import type { UsageValue } from '../../views/usage-groups.ts'

/** A time of which usage is read, Unix ms. */
export interface UsageRange {
  readonly start: number
  /** `undefined`: until now. */
  readonly end: number | undefined
}

const day = 24 * 3_600_000
/** The longest range whose total is read by days; a longer one is read by months, to read less. */
const mostDays = 62
/** No month is longer than that, whatever the zone does. */
const longestMonth = 33 * day

/** All values of a range: a group has one for each bucket that was read. */
export interface ValuesInRange {
  readonly meta: Usage['meta']
  readonly values: readonly UsageValue[]
}

type ReaderRun = Pick<Run, 'request' | 'session' | 'signal'>

/**
 * Reads all values of a range, however long it is: never as many buckets as the platform gives at
 * most, which would leave some out. Grouping, zone and account are those of the call. Throws ApiError,
 * Refused.
 */
export async function readValues(run: ReaderRun, range: UsageRange): Promise<ValuesInRange> {
  const isShort = (range.end ?? Date.now()) - range.start <= mostDays * day
  const reply = await readRange(run, range, isShort ? 'day' : 'month')
  if (isCut(reply, range.start, usageBucketCap)) throw tooLong()
  const { meta, data } = reply
  return { meta, values: isShort ? allValues(data) : await valuesByMonth(run, range, data) }
}

type Buckets = Usage['data']

const allValues = (data: Buckets): UsageValue[] => data.flatMap(({ values }) => values)

const tooLong = () =>
  badArguments([
    { argument: 'start', message: `the range has more than ${usageBucketCap} months; shorten it` },
  ])

/**
 * Whether the platform may have left buckets out: it gave as many as it may, and the first of them
 * begins after the range does. It need not give buckets without use [R].
 */
export function isCut({ data }: Pick<Usage, 'data'>, start: number, limit: number): boolean {
  const [first] = data
  return data.length >= limit && first !== undefined && Date.parse(first.ts) > start
}

const readRange = (
  { request, session, signal }: ReaderRun,
  { start, end }: UsageRange,
  granularity: 'day' | 'month',
): Promise<Usage> => {
  const { end: _, ...query } = request.query
  const wanted: RouteRequest['query'] = {
    ...query,
    granularity,
    limit: usageBucketCap,
    start: new Date(start).toISOString(),
    ...(end !== undefined && { end: new Date(end).toISOString() }),
  }
  return session.client.call(routes.usage.get, { ...request, query: wanted }, signal)
}

/**
 * Whole months from the buckets of months, but the first and the last one by days: of these only a part
 * may be in the range, and the API does not say whether the bucket is that part or the whole month.
 */
async function valuesByMonth(
  run: ReaderRun,
  range: UsageRange,
  data: Buckets,
): Promise<UsageValue[]> {
  const starts = data.map(({ ts }) => Date.parse(ts))
  const isPartial = (at: number) => (starts[at] ?? 0) < range.start || at === data.length - 1
  const partial = starts.flatMap((start, at) => {
    if (!isPartial(at)) return []
    const next = starts[at + 1]
    // The months after this one may be without use, and left out.
    const end = next === undefined ? range.end : Math.min(next, start + longestMonth)
    return [{ start: Math.max(start, range.start), end }]
  })
  const parts = await Promise.all(partial.map((part) => readRange(run, part, 'day')))
  return [
    ...allValues(data.filter((_, at) => !isPartial(at))),
    ...parts.flatMap((part) => allValues(part.data)),
  ]
}
