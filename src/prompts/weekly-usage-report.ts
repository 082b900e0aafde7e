import { routes } from '../contract/routes.ts'
import { groupings, type Usage } from '../contract/usage.ts'
import { type Attachment, definePrompt, type PromptReader } from '../mcp/prompt-definition.ts'
import { safeText } from '../text/safe-text.ts'
import { addDays, dateIn, type LastDays, lastDays } from '../text/time-zone.ts'
import { compareGroups, sumOf, type UsageSum, usageGroups } from '../tool/results/usage-report.ts'
import { timeZoneArgument } from './arguments.ts'
import { attached } from './attachments.ts'

/** Steps from the figures of two weeks to a report. Shared by the prompt and a skill. */
export const reportSteps = safeText`1. Use only the figures that were read and what you compute from them. Usage counts completed conversations of the account and its subaccounts; failed ones are counted separately.
2. Write for a reader who has one minute:
   - one sentence: up or down, by how much, and what drove it
   - table: a row each for conversations, minutes, average length, failed; columns this period, period before, change in percent
   - busiest and quietest day by conversations; days without conversations
   - the agents and subaccounts with the most usage, and those that changed most, by name if it is known
   - what needs attention: a jump, an agent without calls, more failures; if nothing does, "nothing unusual"
3. Read more only if something stands out: get_usage with granularity hour for one day, or with compare_start to compare two periods; list_calls with status failed and include_subaccounts true, which counts failed calls by answer; get_call for one or two of them; list_agents with include_subaccounts true for missing names.
4. The API has no prices: give minutes, not money.

Good: under 250 words with the tables; every number can be found in the data; minutes with one decimal, average length in seconds; no percentage of a number below 10.`

export const weeklyUsageReport = definePrompt({
  name: 'weekly_usage_report',
  title: 'Weekly usage report',
  description: 'Reports the last seven whole days of usage against the seven before.',
  requires: routes.usage.get,
  arguments: { tz: timeZoneArgument },
  async prepare({ tz = 'UTC' }, reader) {
    const weeks = lastDays(Date.now(), 7, tz)
    const query = {
      start: weeks.before,
      end: weeks.until,
      granularity: 'day',
      group_by: [...groupings],
      tz,
    }
    const [usage, nameOf, failed] = await Promise.all([
      reader.require(routes.usage.get, { query }, 'tz'),
      readNames(reader),
      countFailed(weeks, reader),
    ])
    const range = { start: weeks.before, end: weeks.until, granularity: 'day', tz }
    const uri = `voice-agents://usage?${new URLSearchParams(range)}`
    return {
      text: task(weeks),
      attachments: [
        attached('Usage of both weeks', uri, usageFigures(usage, weeks, nameOf), 4500),
        failed,
      ],
    }
  },
})

/**
 * Returns a function from ids to names of agents and accounts. Reads only the first page of each
 * list.
 */
async function readNames(reader: PromptReader): Promise<(id: string) => string | undefined> {
  const query = { limit: 100 }
  const [own, agents, subaccounts] = await Promise.all([
    reader.attempt(reader.cached(routes.accounts.current, {}, 'account')),
    reader.attempt(reader.cached(routes.agents.list, { query }, 'names')),
    reader.attempt(reader.cached(routes.accounts.listSubaccounts, { query }, 'names')),
  ])
  const known = [
    ...(own.ok ? [own.value] : []),
    ...(agents.ok ? agents.value.items : []),
    ...(subaccounts.ok ? subaccounts.value.items : []),
  ]
  const byId = new Map(known.map(({ id, name }) => [id, name ?? undefined]))
  return (id) => byId.get(id)
}

/** Counts failed conversations. Usage counts only completed ones. */
async function countFailed(
  { before, from, until }: LastDays,
  reader: PromptReader,
): Promise<Attachment> {
  const what = 'Failed conversations'
  const count = (created_after: string, created_before: string) =>
    reader.attempt(
      reader.call(routes.conversations.list, {
        query: { status: 'failed', created_after, created_before, limit: 1 },
      }),
    )
  const [week, earlier] = await Promise.all([count(from, until), count(before, from)])
  if (!week.ok || !earlier.ok) {
    const problem = !week.ok ? week.problem : !earlier.ok ? earlier.problem : ''
    return { what, missing: `could not be counted (${problem}); use list_conversations` }
  }
  const failed = { week: week.value.count, week_before: earlier.value.count }
  return attached(what, 'voice-agents://conversations/failed-counts', failed, 100)
}

const task = ({
  from,
  until,
  tz,
}: LastDays) => safeText`Write the usage report for the week from ${from} to ${until} (${tz}; the end is exclusive), compared with the seven days before.

${reportSteps.split('\n')}`

type Bucket = Usage['data'][number]

const totalsOf = ({ seconds = 0, conversations = 0 }: Partial<UsageSum> = {}) => ({
  seconds,
  conversations,
})

const sumIn = (buckets: readonly Bucket[]) =>
  totalsOf(sumOf(buckets.flatMap(({ values }) => values)))

/** Figures of both weeks: by day, in total, and by each dimension, largest first. */
function usageFigures(
  { data }: Usage,
  { from, tz }: LastDays,
  nameOf: (id: string) => string | undefined,
) {
  const first = from.slice(0, 10)
  const dated = data.map((bucket) => ({ bucket, date: dateIn(Date.parse(bucket.ts), tz) }))
  const bucketsOf = (isWanted: (date: string) => boolean) =>
    dated.filter(({ date }) => isWanted(date)).map(({ bucket }) => bucket)
  const week = bucketsOf((date) => date >= first)
  const before = bucketsOf((date) => date < first)
  const days = Array.from({ length: 7 }, (_, index) => addDays(first, index))
  return {
    week: {
      totals: sumIn(week),
      // The reply may omit a day without conversations. Such a day is shown with zeros.
      days: days.map((one) => ({ day: one, ...sumIn(bucketsOf((date) => date === one)) })),
    },
    week_before: { totals: sumIn(before) },
    by: groupsOf(week, before, nameOf),
  }
}

/** Maximum number of groups per dimension. */
const maxGroups = 15

/** Figures of both weeks by each dimension, most used groups first. */
const groupsOf = (
  week: readonly Bucket[],
  before: readonly Bucket[],
  nameOf: (id: string) => string | undefined,
) =>
  Object.fromEntries(
    groupings.flatMap((dimension) => {
      const by = (buckets: readonly Bucket[]) => usageGroups(valuesBy(dimension, buckets))
      const groups = compareGroups(by(week), by(before))
      const largest = groups.slice(0, maxGroups).map(({ dimensions, before, ...week }) => {
        const id = String(dimensions?.[dimension])
        return { id, name: nameOf(id), week: totalsOf(week), week_before: totalsOf(before) }
      })
      return groups.length > 0 ? [[dimension, { groups: groups.length, largest }]] : []
    }),
  )

/**
 * Keeps the values that have this dimension, without their other dimensions.
 */
const valuesBy = (dimension: string, buckets: readonly Bucket[]) =>
  buckets.flatMap(({ values }) =>
    values.flatMap((value) => {
      const given = value.dimensions?.[dimension]
      return given === undefined ? [] : { ...value, dimensions: { [dimension]: given } }
    }),
  )
