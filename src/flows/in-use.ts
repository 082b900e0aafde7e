import { ApiError } from '../api/failure.ts'
import { failureText } from '../api/failure-text.ts'
import { withTimeLimit } from '../api/time-limit.ts'
import { hasEnded } from '../calls/call-state.ts'
import type { Call } from '../contract/call.ts'
import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import type { Run } from '../mcp/call/tool.ts'
import { type AllItems, readAllItems } from '../session/read-all-items.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { type DialogText, dialogText, quotedUpTo } from '../text/dialog-text.ts'
import type { ListRoute } from '../views/list.ts'
import { type AccountReader, accountReader } from './checks/account-reader.ts'
import { readOwnNumbers } from './checks/own-numbers.ts'

/*
 * What uses a thing now, so that it would stop working without it. Where that cannot be read, the
 * answer says so, and nobody may take it as 'unused'.
 */

/** What was looked for, as far as it could be read. */
export interface Found<T> {
  readonly items: readonly T[]
  /** Why there may be more; absent: these are all. */
  readonly unknown?: DialogText
}

/** What would stop working without some agents. */
export interface AgentUse {
  /** The numbers that they answer. */
  readonly numbers: Found<PhoneNumber>
  /** Their calls that have not ended. */
  readonly calls: Found<Call>
}

type LookRun = Pick<Run, 'request' | 'restricted' | 'signal'>

/** Looks for what uses these agents; one look, however many there are. Throws only if cancelled. */
export async function agentUse(run: LookRun, agentIds: readonly string[]): Promise<AgentUse> {
  const ids = new Set(agentIds.map(canonicalId))
  const isMeant = (id: string | null | undefined) => !!id && ids.has(canonicalId(id))
  const [only] = agentIds.length === 1 ? agentIds : []
  const [numbers, calls] = await Promise.all([
    look(run, async (reader) => {
      const { numbers: items, isComplete: isAll } = await readOwnNumbers(reader)
      return { items, isAll }
    }),
    runningCalls(run, only === undefined ? {} : { agent_id: only }),
  ])
  return {
    numbers: onlyThose(numbers, ({ inbound_agent }) => isMeant(inbound_agent?.id)),
    calls: onlyThose(calls, ({ agent_id }) => isMeant(agent_id)),
  }
}

/** The account's calls that have not ended; the filters save pages, where the platform has them. */
export const runningCalls = (
  run: LookRun,
  filters: Readonly<Record<string, string>> = {},
): Promise<Found<Call>> =>
  look(run, async (reader) => {
    const query = { ...filters, status: 'in_progress' }
    const { items, isAll } = await readAllItems((page) =>
      reader.call(routes.calls.list, { query: { ...query, ...page } }),
    )
    return { items: items.filter((call) => !hasEnded(call)), isAll }
  })

/** A number of things, as far as it could be read. */
export interface Counted {
  readonly count: number
  /** Why there may be more; absent: these are all. */
  readonly unknown?: DialogText
}

/** How many items a list has, by its first page. */
export async function countOf(run: LookRun, route: ListRoute, filters = {}): Promise<Counted> {
  const { items, ...rest } = await look(run, async (reader) => {
    const query = { ...filters, limit: firstPage }
    const page = await reader.call(route, { query })
    const isAll = page.count !== undefined || page.items.length < firstPage
    return { items: [page.count ?? page.items.length], isAll }
  })
  return { ...rest, count: items[0] ?? 0 }
}

const firstPage = 100

/** True only where everything was read and nothing found. */
export const isNone = ({ items, unknown }: Found<unknown>): boolean =>
  items.length === 0 && unknown === undefined

/** How long a question waits for what is looked for, ms. */
const longestLookMs = 10_000

async function look<T>(
  { request, restricted, signal }: LookRun,
  read: (reader: AccountReader) => Promise<AllItems<T>>,
): Promise<Found<T>> {
  try {
    const { items, isAll } = await withTimeLimit(longestLookMs, signal, (limited) =>
      read(accountReader({ request, session: restricted, signal: limited })),
    )
    return isAll ? { items } : { items, unknown: dialogText`there are more than were read` }
  } catch (error) {
    if (!(error instanceof ApiError) || signal?.aborted) throw error
    return { items: [], unknown: quotedUpTo(failureText(error.failure)) }
  }
}

const onlyThose = <T>({ items, ...rest }: Found<T>, isMeant: (item: T) => boolean): Found<T> => ({
  ...rest,
  items: items.filter(isMeant),
})
