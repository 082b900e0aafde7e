import { routes } from '../contract/routes.ts'
import { groupings } from '../contract/usage.ts'
import type { Attachment } from '../mcp/protocol/prompt.ts'
import { definePrompt } from '../mcp/protocol/prompt.ts'
import type { PromptReader } from '../mcp/protocol/prompt-reader.ts'
import { safeText } from '../text/safe-text.ts'
import { timeZoneArgument } from './arguments.ts'
import { attached } from './attachments.ts'
import { usageFigures, type Weeks, weeksBefore } from './usage-weeks.ts'

export const weeklyUsageReport = definePrompt({
  name: 'weekly_usage_report',
  title: 'Weekly usage report',
  description: 'Reports the last seven whole days of usage against the seven before.',
  requires: routes.usage.get,
  arguments: { tz: timeZoneArgument },
  async prepare({ tz = 'UTC' }, reader) {
    const weeks = weeksBefore(Date.now(), tz)
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

/** Names of agents and accounts by id; only the first page of each list is read. */
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

/** Counts failed conversations, because usage counts completed ones only. */
async function countFailed(
  { before, from, until }: Weeks,
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
}: Weeks) => safeText`Write the usage report for the week from ${from} to ${until} (${tz}, end not included), compared with the seven days before.

1. All figures are attached; compute from them and invent none. Usage counts completed conversations of the account and its subaccounts; failed ones are counted apart.
2. Write, for somebody who has one minute:
   - one sentence: up or down, by how much, and what drove it
   - table: conversations, minutes, average length, failed; this week, week before, change in percent
   - busiest and quietest day; days with nothing at all
   - the agents and subaccounts that make most of it, and those that changed most, by name where there is one
   - what deserves a look: a jump, an agent without calls, more failures. Say "nothing unusual" if that is so
3. Look further only where something stands out: get_usage with granularity hour for a day, or with compare_start for any two times; list_calls with status failed and include_subaccounts true for failures, which counts them by answer; get_call for one or two of them; list_agents with include_subaccounts true for names that are missing here.
4. The API has no prices: give minutes, not money.

Good: under 250 words with the tables; every number can be found in the data; minutes with one decimal; no percentage of a number below 10.`
