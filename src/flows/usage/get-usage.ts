import * as z from 'zod'
import { instant, withDefault } from '../../contract/field.ts'
import { routes } from '../../contract/routes.ts'
import { granularities, usageBucketCap } from '../../contract/usage.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import {
  changeOf,
  compareGroups,
  sumOf,
  type UsageGroup,
  usageGroups,
} from '../../views/usage-groups.ts'
import type { UsageReport } from '../../views/usage-report.ts'
import { UsageResult, usageResult } from '../../views/usage-result.ts'
import { readUsageNames } from './usage-names.ts'
import { isCut, readValues, type UsageRange } from './usage-reader.ts'

const options = {
  granularity: withDefault(
    z.enum([...granularities, 'total']).describe('Size of a bucket; total: one sum per group.'),
    'day',
  ),
  compare_start: instant('Compares totals with those from here…').optional(),
  compare_end: instant('…until here; default start.').optional(),
}

type UsageRun = Run<typeof routes.usage.get, typeof options>
type Report = Omit<UsageReport, 'names' | 'groupBy' | 'zone'>

/**
 * Usage by buckets; as one total per group; or as totals beside those of another time. Totals are made
 * here, from the platform's buckets, and are those of the whole range in any case.
 */
export const getUsageSteps: Steps<typeof routes.usage.get, typeof options> = {
  options,
  without: ['granularity'],
  schema: UsageResult,
  async run(run) {
    const { compare_start, compare_end, granularity } = run.options
    const range = rangeOf(run)
    if (compare_start === undefined && compare_end !== undefined) throw startMissing()
    if (compare_start !== undefined)
      return withNames(run, await comparison(run, range, comparedRange(range, run)))
    return withNames(run, await (granularity === 'total' ? total(run, range) : series(run, range)))
  },
}

/** The platform's default range [R]. */
const defaultMs = 30 * 24 * 3_600_000

/** The range asked for. */
function rangeOf({ request: { query } }: UsageRun): UsageRange {
  const end = typeof query.end === 'string' ? Date.parse(query.end) : undefined
  const start = typeof query.start === 'string' ? Date.parse(query.start) : undefined
  return { start: start ?? (end ?? Date.now()) - defaultMs, end }
}

const startMissing = () =>
  badArguments([{ argument: 'compare_start', message: 'required with compare_end' }])

function comparedRange(
  range: UsageRange,
  { options: { compare_start = '', compare_end } }: UsageRun,
): Required<UsageRange> {
  const start = Date.parse(compare_start)
  const end = compare_end === undefined ? range.start : Date.parse(compare_end)
  if (start < end) return { start, end }
  const until = compare_end === undefined ? 'start, where compare_end is by default' : 'compare_end'
  throw badArguments([{ argument: 'compare_start', message: `must be before ${until}` }])
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

/** How many groups are named, the most used first. */
const mostNamed = 200

async function withNames(run: UsageRun, report: Report) {
  const groupBy = [run.request.query.group_by ?? []].flat().map(String)
  const idsOf = (dimension: string) =>
    new Set(
      report.groups
        .slice(0, mostNamed)
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
