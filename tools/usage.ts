import * as z from 'zod'
import { instant, withDefault } from '../src/contract/field.ts'
import type { RouteRequest } from '../src/contract/route.ts'
import { routes } from '../src/contract/routes.ts'
import { granularities, type Usage, usageBucketCap } from '../src/contract/usage.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import { badArgument } from '../src/tool/refused.ts'
import {
  changeOf,
  compareGroups,
  sumOf,
  type UsageGroup,
  type UsageReport,
  UsageResult,
  type UsageValue,
  usageGroups,
  usageResult,
} from '../src/tool/results/usage-report.ts'
import type { Run } from '../src/tool/tool.ts'
import { readUsageNames } from './usage/usage-names.ts'

const options = {
  granularity: withDefault(
    z.enum([...granularities, 'total']).describe('Size of a bucket; total: one sum per group.'),
    'day',
  ),
  compare_start: instant('Start of a second period, to compare totals with.').optional(),
  compare_end: instant('Its end; default start.').optional(),
}

type UsageRun = Run<typeof routes.usage.get, typeof options>
type Report = Omit<UsageReport, 'names' | 'groupBy' | 'zone'>

/**
 * Returns usage in three forms: by buckets, as one total per group, or as totals compared with
 * another range. Totals are computed here from the platform's buckets, and always cover the whole
 * range.
 */
export const getUsage = defineTool({
  name: 'get_usage',
  title: 'Show usage',
  description:
    'Counts completed conversations and their minutes, by hour, day, month or in total. Covers an account and its subaccounts; group_by splits by agent, subaccount or type, compare_start compares two periods. Failed calls are not counted, nor transferred ones in the sandbox: list_calls review counts them.',
  route: routes.usage.get,
  view: 'usage',
  options,
  without: ['granularity'],
  schema: UsageResult,
  async run(run) {
    const { compare_start, compare_end, granularity } = run.options
    const range = rangeOf(run)
    if (compare_start === undefined && compare_end !== undefined)
      throw badArgument('compare_start', 'required with compare_end')
    if (compare_start !== undefined)
      return withNames(run, await comparison(run, range, comparedRange(range, run)))
    return withNames(run, await (granularity === 'total' ? total(run, range) : series(run, range)))
  },
})

/** The platform's default range [R]. */
const defaultMs = 30 * 24 * 3_600_000

function rangeOf({ request: { query } }: UsageRun): UsageRange {
  const end = typeof query.end === 'string' ? Date.parse(query.end) : undefined
  const start = typeof query.start === 'string' ? Date.parse(query.start) : undefined
  return { start: start ?? (end ?? Date.now()) - defaultMs, end }
}

function comparedRange(
  range: UsageRange,
  { options: { compare_start = '', compare_end } }: UsageRun,
): Required<UsageRange> {
  const start = Date.parse(compare_start)
  const end = compare_end === undefined ? range.start : Date.parse(compare_end)
  if (start < end) return { start, end }
  const until = compare_end === undefined ? 'start, where compare_end is by default' : 'compare_end'
  throw badArgument('compare_start', `must be before ${until}`)
}

async function series(run: UsageRun, range: UsageRange): Promise<Report> {
  const { request, session, signal, options } = run
  const query = { ...request.query, granularity: options.granularity ?? 'day' }
  const reply = await session.client.call(routes.usage.get, { ...request, query }, signal)
  const { meta, data, ...rest } = reply
  const limit = Number(request.query.limit ?? usageBucketCap)
  const isPart = isCut(reply, range.start, limit)
  const groups = usageGroups(
    isPart ? (await readValues(run, range)).values : data.flatMap(({ values }) => values),
  )
  return { rest, meta, data, totals: sumOf(groups), groups, isSeries: true, isPart }
}

async function total(run: UsageRun, range: UsageRange): Promise<Report> {
  const { meta, values } = await readValues(run, range)
  return totalReport(usageGroups(values), { range, meta })
}

async function comparison(run: UsageRun, range: UsageRange, before: UsageRange): Promise<Report> {
  const [now, earlier] = await Promise.all([readValues(run, range), readValues(run, before)])
  const groups = compareGroups(usageGroups(now.values), usageGroups(earlier.values))
  const report = totalReport(groups, { range, meta: now.meta })
  const totals = { ...report.totals, ...changeOf(report.totals, sumOf(earlier.values)) }
  return { ...report, totals, comparedWith: { start: before.start, end: before.end ?? Date.now() } }
}

function totalReport(
  groups: readonly UsageGroup[],
  { range: { start, end }, meta }: { range: UsageRange; meta: UsageReport['meta'] },
): Report {
  const from = new Date(start).toISOString()
  const until =
    end === undefined ? (meta.end ?? new Date().toISOString()) : new Date(end).toISOString()
  return {
    rest: {},
    meta: { ...meta, start: from, end: until, granularity: 'total' },
    totals: sumOf(groups),
    groups,
    data: [{ ts: from, values: groups.map((group) => ({ ...group })) }],
    isSeries: false,
    isPart: false,
  }
}

/** Maximum number of groups whose names are looked up, most used first. */
const maxNamed = 200

async function withNames(run: UsageRun, report: Report) {
  const groupBy = [run.request.query.group_by ?? []].flat().map(String)
  const idsOf = (dimension: string) =>
    new Set(
      report.groups
        .slice(0, maxNamed)
        .flatMap(({ dimensions }) => dimensions?.[dimension] ?? [])
        .map(String),
    )
  const names = await readUsageNames(
    { agent: idsOf('agent'), subaccount: idsOf('subaccount') },
    run,
  )
  const zone = typeof run.request.query.tz === 'string' ? run.request.query.tz : 'UTC'
  return usageResult({ ...report, names, groupBy, zone })
}

/** Time range of usage, Unix ms. */
interface UsageRange {
  readonly start: number
  /** `undefined`: up to now. */
  readonly end: number | undefined
}

const day = 24 * 3_600_000
/**
 * Longest range, in days, whose total is read by days. Longer ranges are read by months, in fewer
 * requests.
 */
const maxDays = 62
/** Longer than any month, even with a change to daylight saving time or back. */
const longestMonth = 33 * day

/** All values of a range: one per group and bucket. */
interface ValuesInRange {
  readonly meta: Usage['meta']
  readonly values: readonly UsageValue[]
}

type ReaderRun = Pick<Run, 'request' | 'session' | 'signal'>

/**
 * Reads all values of a range of any length. Splits it into requests below the platform's bucket
 * limit, because the platform truncates longer replies. Keeps grouping, zone and account of the
 * tool call. Throws ApiError and Refused.
 */
async function readValues(run: ReaderRun, range: UsageRange): Promise<ValuesInRange> {
  const isShort = (range.end ?? Date.now()) - range.start <= maxDays * day
  const reply = await readRange(run, range, isShort ? 'day' : 'month')
  if (isCut(reply, range.start, usageBucketCap)) {
    const message = `the range has more than ${usageBucketCap} months; shorten it`
    throw badArgument('start', message)
  }
  const { meta, data } = reply
  return { meta, values: isShort ? allValues(data) : await valuesByMonth(run, range, data) }
}

type Buckets = Usage['data']

const allValues = (data: Buckets): UsageValue[] => data.flatMap(({ values }) => values)

/**
 * True if the platform may have cut off early buckets: the reply has the maximum number of buckets,
 * and the first begins after the range's start. Buckets without usage may be missing anyway [R].
 */
function isCut({ data }: Pick<Usage, 'data'>, start: number, limit: number): boolean {
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
 * Reads whole months by month, and the first and last month by days. Those two may be partly
 * outside the range, and the API does not document whether their bucket covers the part or the
 * whole month.
 */
async function valuesByMonth(
  run: ReaderRun,
  range: UsageRange,
  data: Buckets,
): Promise<UsageValue[]> {
  const starts = data.map(({ ts }) => Date.parse(ts))
  const isPartial = (i: number) => (starts[i] ?? 0) < range.start || i === data.length - 1
  const partial = starts.flatMap((start, i) => {
    if (!isPartial(i)) return []
    const next = starts[i + 1]
    // The platform may omit months without usage, so the next bucket may be more than a month away.
    const end = next === undefined ? range.end : Math.min(next, start + longestMonth)
    return [{ start: Math.max(start, range.start), end }]
  })
  const parts = await Promise.all(partial.map((part) => readRange(run, part, 'day')))
  return [
    ...allValues(data.filter((_, i) => !isPartial(i))),
    ...parts.flatMap((part) => allValues(part.data)),
  ]
}
