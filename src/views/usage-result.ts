import * as z from 'zod'
import { Usage } from '../contract/usage.ts'
import { firstLines } from '../text/shorten.ts'
import { resultBudget } from './shorten-result.ts'
import type { OutputWithLines, StructuredContent } from './tool-output.ts'
import { sumOf } from './usage-groups.ts'
import { bucketRows, headLines } from './usage-lines.ts'
import type { UsageReport } from './usage-report.ts'

const Sum = z.object({
  seconds: z.number().describe('Conversation time, seconds.'),
  minutes: z.number().describe('The same in minutes, rounded.'),
  conversations: z.number().describe('Completed conversations.'),
})

/** What get_usage returns; each value also has what `totals` has. */
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

/** Left for the notes and the account, which follow the lines. */
const spareTokens = 300

/** Usage as data and as text. Of a long series both have the first buckets; totals are of all. */
export function usageResult(report: UsageReport): OutputWithLines {
  const head = headLines(report)
  const rows = report.isSeries ? bucketRows(report) : []
  const lines = [...head, ...rows.map(({ text }) => text)]
  const fitting = firstLines(lines, resultBudget - spareTokens).lines.length
  const inText = rows[Math.max(1, fitting - head.length)]?.first ?? report.data.length
  const data = report.isSeries ? report.data.map(withMinutes) : report.data
  const next = Math.min(inText, fittingBuckets(data))
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

/** Most tokens of the buckets as data, about: they say more than the lines, and some clients show both. */
const dataBudget = 1.2 * resultBudget

/** How many buckets stay within the budget for data, at least one. */
function fittingBuckets(data: Usage['data']): number {
  const texts = data.map((bucket) => JSON.stringify(bucket))
  return firstLines(texts, dataBudget).lines.length
}

function contentOf(
  { meta, rest, totals, comparedWith, names, groupBy }: UsageReport,
  data: Usage['data'],
  notes: readonly string[],
): StructuredContent {
  const { start, end } = comparedWith ?? {}
  const named = Object.entries({ agent: names.agent, subaccount: names.subaccount })
    .filter(([dimension]) => groupBy.includes(dimension))
    .map(([dimension, byId]) => [dimension, Object.fromEntries(byId)])
  return {
    ...rest,
    meta,
    totals,
    ...(comparedWith && { compared_with: { start: isoOf(start), end: isoOf(end) } }),
    ...(named.length > 0 && { names: Object.fromEntries(named) }),
    ...(notes.length > 0 && { note: notes.join(' ') }),
    data,
  }
}

const isoOf = (ms = 0) => new Date(ms).toISOString()

const withMinutes = ({ ts, values, ...rest }: Usage['data'][number]) => ({
  ts,
  ...rest,
  values: values.map((value) => ({ ...value, ...sumOf([value]) })),
})

const partNote = (data: Usage['data']) =>
  `The platform gives at most ${data.length} buckets, these from ${data[0]?.ts} to ${data.at(-1)?.ts}; totals are of the whole range.`

const shortenedNote = (data: Usage['data'], next: number) =>
  `Shortened to ${next} of ${data.length} buckets: go on with start = ${data[next]?.ts}, or take a coarser granularity. totals are of all.`
