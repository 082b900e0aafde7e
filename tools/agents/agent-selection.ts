import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { mapConcurrently } from '../../src/platform/concurrency.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import {
  type AccountInTree,
  type AccountTree,
  type AllItems,
  accountConcurrency,
  readAccountTree,
  readAllItems,
} from '../../src/platform/sessions/complete-lists.ts'
import { requestMs, withTimeLimit } from '../../src/platform/time-limit.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { closestItems, closestWord, itemLabel, nameWithId } from '../../src/text/closest-match.ts'
import { shownName } from '../../src/text/dialog-text.ts'
import {
  type FailedAccounts,
  failedAccounts,
  maxAccounts,
  rootAccount,
  whyNoSubaccounts,
} from '../../src/tool/lists/several-accounts.ts'
import {
  eachOnce,
  forEach,
  manyIds,
  maxItems,
  type SelectedItem,
  type Selection,
} from '../../src/tool/many.ts'
import { repeatedLines } from '../../src/tool/many-result.ts'
import { idMeant } from '../../src/tool/references/names-to-ids.ts'
import { badArguments, type Refused } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'

/** Arguments that select agents. Exactly one of the first three is given. */
export const selectionOptions = {
  agent_id: z.string().min(1).optional().describe('Agent id.'),
  agent_ids: manyIds.describe('Instead of agent_id: many, by id or name.'),
  with_tag: z
    .string()
    .min(1)
    .optional()
    .describe('Instead: all with this tag that are not archived.'),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: agent_ids and with_tag also find agents of all subaccounts.'),
}

type SelectionOptions = z.output<z.ZodObject<typeof selectionOptions>>
type SelectionRun = Pick<Run, 'request' | 'restricted' | 'session' | 'signal' | 'answerBy'>

/** Several agents. A list of one is a bulk operation, too. */
export interface AgentSelection extends Selection {
  /** The argument that named them. */
  readonly argument: 'agent_id' | 'agent_ids' | 'with_tag'
  /** Accounts whose agents could not be read. */
  readonly failed: readonly FailedAccounts[]
}

/** The selected agents. Throws Refused and ApiError. */
export async function selectAgents(
  { agent_ids: ids, with_tag: tag, include_subaccounts: isTree = false }: SelectionOptions,
  run: SelectionRun,
): Promise<{ readonly agentId: string } | AgentSelection> {
  const { agent_id: agentId } = run.request.params
  const given = [agentId, ids, tag].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw badArgument('agent_id', 'give exactly one of agent_id, agent_ids and with_tag')
  if (isTree && agentId !== undefined)
    throw badTree(
      'not with agent_id: give its account_id instead, or several agents with agent_ids or with_tag',
    )
  if (ids) return isTree ? agentsInTreeByIds(ids, run) : agentsByIds(ids, run)
  if (tag === undefined) return { agentId: agentId ?? '' }
  if (isTree)
    return withTree(run, (read) =>
      agentsWithTag(tag, read, ({ failed }) =>
        [' in the account and its subaccounts', unreadAccounts(failed)].filter(Boolean).join(', '),
      ),
    )
  if (!run.restricted.mayRead(routes.agents.list))
    throw badTag('needs list_agents, which this server does not offer; give agent_ids')
  const read: ReadAgents<OwnedAgent> = async (filters) => {
    const { items, isAll } = await readAgents(accountIn(run.request), filters, run)
    return { owned: items.map((agent) => ({ agent })), failed: [], isAll }
  }
  return agentsWithTag(tag, read, () => '')
}

const badArgument = (argument: string, message: string): Refused =>
  badArguments([{ argument, message }])
const badTag = (message: string): Refused => badArgument('with_tag', message)
const badTree = (message: string): Refused => badArgument('include_subaccounts', message)

/** An agent, with its account if the selection spans several. */
export interface OwnedAgent {
  readonly agent: Agent
  readonly account?: AccountInTree
}

interface AgentInTree extends OwnedAgent {
  readonly account: AccountInTree
}

interface AgentsRead<A extends OwnedAgent> {
  readonly owned: readonly A[]
  /** Unread accounts. The agents of the others are still selected. */
  readonly failed: readonly FailedAccounts[]
  /** False: an account has agents that were not read. */
  readonly isAll: boolean
}

/** Reads the agents that match; without a filter the active ones. Throws ApiError. */
type ReadAgents<A extends OwnedAgent> = (filters: object) => Promise<AgentsRead<A>>

/**
 * All active agents with the tag. `where` names the searched accounts in the error. Throws Refused
 * and ApiError.
 */
async function agentsWithTag<A extends OwnedAgent>(
  tag: string,
  read: ReadAgents<A>,
  where: (read: AgentsRead<A>) => string,
): Promise<AgentSelection> {
  const found = await read({ tags: [tag] })
  const { owned, failed, isAll } = found
  // The platform may read a tag with a comma as several tags [R].
  const tagged = owned.filter(({ agent }) => agent.tags?.includes(tag))
  if (tagged.length === 0) {
    const meant = closestTag(tag, (await read({})).owned)
    throw badTag(`no active agent has the tag ${tag}${where(found)}; ${meant}`)
  }
  if (!isAll || tagged.length > maxItems)
    throw badTag(
      `${isAll ? '' : 'more than '}${tagged.length} agents have this tag, and one call takes ${maxItems}: list them with list_agents and tags, then give agent_ids in parts`,
    )
  return { items: tagged.map(selectedItem), repeated: [], argument: 'with_tag', failed }
}

/** The closest tag that agents have, or some of their tags. */
function closestTag(tag: string, owned: readonly OwnedAgent[]): string {
  const known = [...new Set(owned.flatMap(({ agent }) => agent.tags ?? []))]
  const meant = closestWord(tag, known)
  if (meant) return `did you mean ${meant}?`
  const some = known.slice(0, 10).join(', ')
  return some ? `tags that agents have: ${some}` : 'no agent has any tag'
}

export const selectedItem = ({ agent: { id, name }, account }: OwnedAgent): SelectedItem => ({
  ...{ given: name || id, id },
  ...(account && { account }),
})

async function agentsByIds(given: readonly string[], run: SelectionRun): Promise<AgentSelection> {
  const lookup = { params: run.request.params, session: run.restricted, signal: run.signal }
  const found = await forEach(given, (one) => idMeant('agent_id', one, lookup), {
    ...run,
    progress: () => {},
  })
  const items = found.map((outcome, i) => ({
    given: given[i] ?? '',
    ...(outcome.state === 'done' ? outcome.value : { problem: outcome.problem }),
  }))
  return { ...eachOnce(items), argument: 'agent_ids', failed: [] }
}

/**
 * Agents of the account and its subaccounts with these ids or exact names. A name matches active
 * agents only, and is unambiguous only if all accounts were read. Throws Refused and ApiError.
 */
function agentsInTreeByIds(given: readonly string[], run: SelectionRun): Promise<AgentSelection> {
  return withTree(run, async (read) => {
    const active = await read({})
    const isActive = (id: string) => active.owned.some(({ agent }) => isCalled(agent, id))
    const archived = given.every(isActive) ? undefined : await read({ is_archived: true })
    const failed = archived?.failed.length ? archived.failed : active.failed
    const isComplete = failed.length === 0 && active.isAll
    const whole = { failed, isAll: active.isAll && (archived?.isAll ?? true) }
    const items = given.map((one): SelectedItem => {
      const byId = [...active.owned, ...(archived?.owned ?? [])].filter(({ agent }) =>
        hasId(agent, one),
      )
      const found =
        byId.length > 0 ? byId.slice(0, 1) : active.owned.filter(({ agent }) => agent.name === one)
      const [first] = found
      if (!first) return { given: one, problem: noneMeant(one, active.owned, whole) }
      if (found.length > 1) return { given: one, problem: severalMeant(one, found) }
      if (byId.length === 0 && !isComplete)
        return { given: one, problem: notCertain(one, first, whole) }
      return { ...selectedItem(first), given: one }
    })
    return { ...eachOnce(items), argument: 'agent_ids', failed }
  })
}

const hasId = ({ id }: Agent, given: string) => canonicalId(id) === canonicalId(given)
const isCalled = (agent: Agent, given: string) => hasId(agent, given) || agent.name === given

/** Half of the time is for reads, the other half for the changes. */
function withTree<T>(
  run: SelectionRun,
  work: (read: ReadAgents<AgentInTree>) => Promise<T>,
): Promise<T> {
  const { restricted: session, request } = run
  const problem = whyNotTree(run)
  if (problem) throw badTree(problem)
  const msLeft = Math.min((run.answerBy - performance.now()) / 2, requestMs)
  return withTimeLimit(msLeft, run.signal, async (signal) => {
    const root = await rootAccount(request, session, signal)
    const tree = await readAccountTree(root, { session, signal, max: maxAccounts })
    if (tree.hasMore)
      throw badTree(
        `there are more than ${maxAccounts} accounts: give account_id, one branch at a time`,
      )
    return work((filters) => readTree(tree, filters, { ...run, signal, caller: run.signal }))
  })
}

function whyNotTree({ restricted }: SelectionRun): string | undefined {
  if (!restricted.mayRead(routes.agents.list))
    return 'needs list_agents, which this server does not offer'
  const why = whyNoSubaccounts(restricted)
  return why && `nothing was changed. ${why} Call again without it`
}

async function readTree(
  tree: AccountTree,
  filters: object,
  run: SelectionRun & { readonly caller: AbortSignal | undefined },
): Promise<AgentsRead<AgentInTree>> {
  const branches = await mapConcurrently(tree.accounts, accountConcurrency, async (account) => {
    try {
      return { account, hasRead: true, ...(await readAgents(account.id, filters, run)) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { account, hasRead: false, items: [], isAll: true, error }
    }
  })
  return {
    owned: branches.flatMap(({ account, items }) => items.map((agent) => ({ agent, account }))),
    failed: failedAccounts(branches, tree, { signal: run.caller }),
    isAll: branches.every(({ isAll }) => isAll),
  }
}

/** All agents of one account. Throws ApiError. */
const readAgents = (
  account_id: string,
  filters: object,
  { restricted, signal }: SelectionRun,
): Promise<AllItems<Agent>> =>
  readAllItems<Agent>((page) =>
    restricted.client.call(
      routes.agents.list,
      { params: { account_id }, query: { ...filters, ...page } },
      signal,
    ),
  )

type Incomplete = Pick<AgentsRead<AgentInTree>, 'failed' | 'isAll'>

/** Names the accounts that could not be read; empty if all could. */
const unreadAccounts = (failed: readonly FailedAccounts[]): string =>
  failed.length > 0 ? `as far as they could be read (${failedInWords(failed)})` : ''

const whyIncomplete = ({ failed }: Incomplete) =>
  unreadAccounts(failed) || 'as far as they were read: an account has too many agents'

function noneMeant(given: string, owned: readonly OwnedAgent[], read: Incomplete): string {
  const isWhole = read.failed.length === 0 && read.isAll
  const limits = isWhole ? '' : `, ${whyIncomplete(read)}`
  const known = owned.map(({ agent: { id, name } }) => ({ id, names: [name] }))
  const meant = closestItems(given, known).map(itemLabel).join(' or ')
  return `no agent of the account and its subaccounts has the id or name ${given}${limits}.${meant && ` Did you mean ${meant}?`}`
}

const severalMeant = (given: string, found: readonly AgentInTree[]) =>
  `${found.length} agents are called "${given}"; give the id: ${found
    .slice(0, 5)
    .map(({ agent, account }) => `${agent.id} (in ${accountLabel(account)})`)
    .join(', ')}`

const notCertain = (given: string, { agent }: OwnedAgent, read: Incomplete) =>
  `it is not certain that only one agent is called "${given}", ${whyIncomplete(read)}; give the id: ${agent.id}`

const accountLabel = ({ id, name }: AccountInTree) => nameWithId(name && shownName(name), id)

/** `not read: Hamburg branch (1b9d…): HTTP 500` */
export const failedInWords = (failed: readonly FailedAccounts[]): string =>
  failed
    .map(({ reason, accounts }) => `not read: ${accounts.map(accountLabel).join(', ')}: ${reason}`)
    .join('; ')

/** The selection in a bulk result: fields, and lines before and after its own. */
export const selectionResult = (
  { failed, repeated, argument }: AgentSelection,
  isTree: boolean | undefined,
) => ({
  fields: failed.length > 0 ? { failed_accounts: [...failed] } : {},
  before: [
    ...(failed.length > 0 ? [`NOT COMPLETE: ${failedInWords(failed)}. Call again for those.`] : []),
    ...repeatedLines(repeated),
  ],
  after:
    argument === 'with_tag'
      ? [
          isTree
            ? 'Archived agents are not included.'
            : 'Archived agents and those of subaccounts are not included.',
        ]
      : [],
})
