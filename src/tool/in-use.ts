import { hasEnded } from '../calls/call-follower.ts'
import type { Agent } from '../contract/agent.ts'
import type { Call } from '../contract/call.ts'
import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import { ApiError, failureText } from '../platform/failure.ts'
import { mapConcurrently } from '../platform/map-concurrently.ts'
import { driftOf } from '../platform/reply-drift.ts'
import { accountConcurrency } from '../platform/sessions/account-tree.ts'
import { type AllItems, readAllItems } from '../platform/sessions/pagination.ts'
import { withTimeLimit } from '../platform/time-limit.ts'
import { longestCallMs } from '../policy/dial-policy.ts'
import { canonicalId, isUuid } from '../text/canonical-id.ts'
import {
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedUpTo,
  wordOrQuoted,
} from '../text/dialog-text.ts'
import { type AccountReader, accountReader, runIn } from './account-reader.ts'
import { readOwnNumbers } from './checks/readiness.ts'
import type { Owned } from './lists/complete-account-lists.ts'
import type { ListRoute } from './lists/list-result.ts'
import type { Run } from './tool.ts'

/*
 * Current uses of agents, phone numbers and accounts: numbers and calls that would stop working
 * without them. A use that cannot be read is reported as unknown, never as 'unused'.
 */

/** Findings, and whether the search was complete. */
export interface Found<T> {
  readonly items: readonly T[]
  /** Reason why there may be more items; absent: the search was complete. */
  readonly unknown?: DialogText
}

/** Numbers and calls that would stop working if the agents were archived. */
export interface AgentUse {
  /** The phone numbers that the agents answer. */
  readonly numbers: Found<PhoneNumber>
  /** The agents' calls that have not ended. */
  readonly calls: Found<Call>
}

type LookUpRun = Pick<Run, 'request' | 'restricted' | 'signal'>

/** Finds the uses of any number of agents in one pass. Throws only if cancelled. */
export async function agentUse(run: LookUpRun, agentIds: readonly string[]): Promise<AgentUse> {
  const ids = new Set(agentIds.map(canonicalId))
  const isMeant = (id: string | null | undefined) => !!id && ids.has(canonicalId(id))
  const [numbers, calls] = await Promise.all([
    lookUp(run, async (reader) => {
      const { numbers: items, isComplete: isAll } = await readOwnNumbers(reader)
      return { items, isAll }
    }),
    // The list is not filtered by agent, because the platform's filter may miss an agent whose id
    // it shows in another form.
    runningCalls(run),
  ])
  const used = onlyThose(calls, ({ agent_id }) => isMeant(agent_id))
  const isUnclear = calls.items.some(
    ({ agent_id }) => !isMeant(agent_id) && !agentIds.every((id) => isPlainlyOther(agent_id, id)),
  )
  return {
    numbers: onlyThose(numbers, ({ inbound_agent }) => isMeant(inbound_agent?.id)),
    calls: isUnclear
      ? { unknown: dialogText`one does not show plainly whose it is`, ...used }
      : used,
  }
}

/** Uses of agents, by the id of the agents' account. */
export type UseByAccount = ReadonlyMap<string, AgentUse>

const accountKey = ({ account }: Owned<Agent>) => account?.id ?? ''

/** Finds the uses of agents, with one pass per account. */
export async function useByAccount(
  agents: readonly Owned<Agent>[],
  run: LookUpRun,
): Promise<UseByAccount> {
  const accounts = [...new Set(agents.map(accountKey))]
  const uses = await mapConcurrently(accounts, accountConcurrency, async (key) => {
    const own = agents.filter((one) => accountKey(one) === key)
    const ids = own.map(({ item }) => item.id)
    return [key, await agentUse(runIn(own[0]?.account, run), ids)] as const
  })
  return new Map(uses)
}

/** The uses in the agent's account. Throws an Error if `useByAccount` did not read that account. */
export function useOf(one: Owned<Agent>, uses: UseByAccount): AgentUse {
  const use = uses.get(accountKey(one))
  if (!use) throw new Error(`the use of agents of ${accountKey(one)} was not read`)
  return use
}

/**
 * True if an id certainly belongs to another agent: it has the same form as `id`, and neither
 * contains the other.
 */
function isPlainlyOther(shown: string | null | undefined, id: string): boolean {
  if (!shown || isUuid(shown) !== isUuid(id)) return false
  const [one, other] = [shown.toLowerCase(), id.toLowerCase()]
  return !one.includes(other) && !other.includes(one)
}

/** Maximum age of a running call, ms: the longest call, plus a day in a queue. */
const openCallMs = longestCallMs + 24 * 3_600_000

/**
 * The account's running calls. The list is not filtered by status, because not all statuses are
 * documented. `created_after` saves pages where the platform supports it.
 */
export const runningCalls = (run: LookUpRun): Promise<Found<Call>> =>
  lookUp(run, async (reader) => {
    const created_after = new Date(Date.now() - openCallMs).toISOString()
    const { items, isAll } = await readAllItems(
      (page) => reader.call(routes.calls.list, { query: { created_after, ...page } }),
      { distrustsCount: true },
    )
    return { items: items.filter((call) => !hasEnded(call, openCallMs)), isAll }
  })

interface Counted {
  readonly count: number
  /** Reason why there may be more items; absent: the count is exact. */
  readonly unknown?: DialogText
}

/** The length of a list, taken from its first page. */
export async function countOf(run: LookUpRun, route: ListRoute, filters = {}): Promise<Counted> {
  const { items, ...rest } = await lookUp(run, async (reader) => {
    const query = { ...filters, limit: firstPage }
    const page = await reader.call(route, { query })
    const isAll = page.count !== undefined || page.items.length < firstPage
    return { items: [page.count ?? page.items.length], isAll }
  })
  return { ...rest, count: items[0] ?? 0 }
}

const firstPage = 100

/** True only if the search was complete and found nothing. */
export const isNone = ({ items, unknown }: Found<unknown>): boolean =>
  items.length === 0 && unknown === undefined

/** Time limit for finding the uses that a question names, ms. */
const lookUpTimeoutMs = 10_000

/**
 * Reply fields that decide whether something is in use: the agent of a number or a call, and
 * whether the call has ended.
 */
const decisive = /^items\.\*\.(inbound_agent|agent_id|status|created|started_at|ended_at)\b/

async function lookUp<T>(
  { request, restricted, signal }: LookUpRun,
  read: (reader: AccountReader) => Promise<AllItems<T>>,
): Promise<Found<T>> {
  try {
    let isShownOtherwise = false
    const { items, isAll } = await withTimeLimit(lookUpTimeoutMs, signal, (limited) => {
      const reader = accountReader({ request, session: restricted, signal: limited })
      return read({
        ...reader,
        async call(route, given) {
          const reply = await reader.call(route, given)
          isShownOtherwise ||= driftOf(reply).some(({ path }) => decisive.test(path))
          return reply
        },
      })
    })
    if (isShownOtherwise)
      return { items, unknown: dialogText`the platform shows some in an undocumented form` }
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

/** Maximum number of items named in a question. The rest is counted. */
const maxNamed = 20

/** Findings in a question to a person: `none`, names, or unknown. */
export function foundInWords<T>(
  { items, unknown }: Found<T>,
  inWords: (item: T) => DialogText,
): DialogText {
  const rest = items.length - maxNamed
  const parts = [
    ...items.slice(0, maxNamed).map(inWords),
    ...(rest > 0 ? [dialogText`and ${rest} more`] : []),
  ]
  return withUnknown(parts, unknown)
}

export function countInWords(found: Found<unknown> | Counted): DialogText {
  const count = 'count' in found ? found.count : found.items.length
  return withUnknown(count === 0 ? [] : [dialogText`${count}`], found.unknown)
}

function withUnknown(found: readonly DialogText[], unknown: DialogText | undefined): DialogText {
  if (unknown === undefined)
    return found.length === 0 ? dialogText`none` : joinDialogTexts(found, ', ')
  return found.length === 0
    ? dialogText`not known (${unknown})`
    : dialogText`${joinDialogTexts(found, ', ')}, maybe more (${unknown})`
}

/** A phone number with its name: `+12025550110 ("Main line")`. */
export function numberInWords({
  id,
  number,
  friendly_name: name,
}: Pick<PhoneNumber, 'id' | 'number' | 'friendly_name'>): DialogText {
  const known = wordOrQuoted(number ?? id)
  return name ? dialogText`${known} (${quotedUpTo(name, 100)})` : known
}

/**
 * Describes how an agent is used: `answers +12025550110 ("Main line")`; `undefined`: no use is
 * known.
 */
export function useInWords(agentId: string, { numbers, calls }: AgentUse): DialogText | undefined {
  const id = canonicalId(agentId)
  const isMeant = (other: string | null | undefined) => !!other && canonicalId(other) === id
  const answered = numbers.items.filter(({ inbound_agent }) => isMeant(inbound_agent?.id))
  const running = calls.items.filter(({ agent_id }) => isMeant(agent_id)).length
  const parts = [
    answered.length > 0 &&
      dialogText`answers ${joinDialogTexts(answered.map(numberInWords), ', ')}`,
    running === 1 && dialogText`has a call running`,
    running > 1 && dialogText`has ${running} calls running`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? joinDialogTexts(parts, ', ') : undefined
}

/**
 * Reason why an agent without a known use may still be in use; `undefined`: it is certainly unused.
 */
export function unknownUse({ numbers, calls }: AgentUse): DialogText | undefined {
  const parts = [
    numbers.unknown && dialogText`numbers: ${numbers.unknown}`,
    calls.unknown && dialogText`calls: ${calls.unknown}`,
  ].filter((part) => part !== undefined)
  return parts.length > 0 ? joinDialogTexts(parts, '; ') : undefined
}
