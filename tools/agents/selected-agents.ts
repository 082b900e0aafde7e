import { requestMs } from '../../src/calls/placement.ts'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { mapConcurrently } from '../../src/platform/concurrency.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import {
  type AccountInTree,
  type AccountTree,
  accountsAtOnce,
  readAccountTree,
} from '../../src/platform/sessions/complete-lists.ts'
import { withTimeLimit } from '../../src/platform/time-limit.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { closestItems, itemLabel, nameWithId } from '../../src/text/closest-match.ts'
import { shownName } from '../../src/text/dialog-text.ts'
import {
  type FailedAccounts,
  failedAccounts,
  mostAccounts,
  rootAccount,
  whyNoSubaccounts,
} from '../../src/tool/lists/several-accounts.ts'
import type { SelectedThing } from '../../src/tool/many.ts'
import { forEach, mostThings } from '../../src/tool/many.ts'
import { idMeant } from '../../src/tool/references/names-to-ids.ts'
import { badArguments, type Refused } from '../../src/tool/refused.ts'
import {
  agentsOnce,
  badTag,
  failedInWords,
  readAgents,
  type SelectedMany,
  type Selection,
  type SelectionRun,
  tagMeant,
  tooManyTagged,
} from './agent-selection.ts'

type SelectedAgents = { readonly agentId: string } | SelectedMany

/** The agents that the arguments mean. Throws Refused and ApiError. */
export async function selectedAgents(
  { agent_ids: ids, with_tag: tag, include_subaccounts: isTree = false }: Selection,
  run: SelectionRun,
): Promise<SelectedAgents> {
  const { agent_id: agentId } = run.request.params
  const given = [agentId, ids, tag].filter((one) => one !== undefined)
  if (given.length !== 1) throw notOneSelection(given.length)
  if (isTree && agentId !== undefined) throw notOfOneAgent()
  if (ids) return isTree ? agentsInTreeByIds(ids, run) : agentsByIds(ids, run)
  if (tag === undefined) return { agentId: agentId ?? '' }
  if (isTree) return agentsInTreeWithTag(tag, run)
  return { agents: await agentsWithTag(tag, run), repeated: [], argument: 'with_tag' }
}

const notOneSelection = (count: number) =>
  badArguments([
    {
      argument: 'agent_id',
      message: `${count === 0 ? 'required' : 'too much'}: give exactly one of agent_id, agent_ids and with_tag`,
    },
  ])

const notOfOneAgent = () =>
  badArguments([
    {
      argument: 'include_subaccounts',
      message:
        'not with agent_id: give its account_id instead, or several agents with agent_ids or with_tag',
    },
  ])

async function agentsByIds(given: readonly string[], run: SelectionRun): Promise<SelectedMany> {
  const lookup = { params: run.request.params, session: run.restricted, signal: run.signal }
  const found = await forEach(given, (one) => idMeant('agent_id', one, lookup), {
    ...run,
    progress: () => {},
  })
  const agents = found.map((outcome, at): SelectedThing => {
    const one = { given: given[at] ?? '' }
    return outcome.state === 'done'
      ? { ...one, ...outcome.value }
      : { ...one, problem: outcome.problem }
  })
  return agentsOnce(agents)
}

async function agentsWithTag(tag: string, run: SelectionRun): Promise<SelectedThing[]> {
  if (!run.restricted.mayRead(routes.agents.list))
    throw badTag('needs list_agents, which this server does not offer; give agent_ids')
  const { agents, isAll } = await activeAgents({ tags: [tag] }, run)
  // The platform may read a tag with a comma as several tags [R].
  const tagged = agents.filter((agent) => agent.tags?.includes(tag))
  if (tagged.length === 0) throw badTag(await noneWithTag(tag, run))
  if (isAll && tagged.length <= mostThings)
    return tagged.map(({ id, name }) => ({ given: name || id, id }))
  throw tooManyTagged(isAll ? `${tagged.length}` : `more than ${tagged.length}`)
}

async function noneWithTag(tag: string, run: SelectionRun): Promise<string> {
  const { agents } = await activeAgents({}, run)
  return `no active agent has the tag ${tag}; ${tagMeant(tag, agents)}`
}

const activeAgents = (filters: object, { request, restricted, signal }: SelectionRun) =>
  readAgents(accountIn(request), filters, { client: restricted.client, signal })

/*
 * Agents of an account and all its subaccounts. Accounts that cannot be read are told in `failed`:
 * what is meant in the others is done.
 */

/** An agent, and whose it is. */
interface OwnedAgent {
  readonly agent: Agent
  readonly account: AccountInTree
}

interface AgentsOfTree {
  readonly owned: readonly OwnedAgent[]
  readonly failed: readonly FailedAccounts[]
  /** False: an account has more agents than were read. */
  readonly isAll: boolean
}

/** All active agents with the tag. Throws Refused and ApiError. */
function agentsInTreeWithTag(tag: string, run: SelectionRun): Promise<SelectedMany> {
  return withTree(run, async (read) => {
    const { owned, failed, isAll } = await read({ tags: [tag] })
    // The platform may read a tag with a comma as several tags [R].
    const tagged = owned.filter(({ agent }) => agent.tags?.includes(tag))
    if (tagged.length === 0) {
      const known = (await read({})).owned.map(({ agent }) => agent)
      const where = ['in the account and its subaccounts', inWords(failed)].filter(Boolean)
      throw badTag(
        `no active agent has the tag ${tag} ${where.join(', ')}; ${tagMeant(tag, known)}`,
      )
    }
    if (!isAll || tagged.length > mostThings)
      throw tooManyTagged(isAll ? `${tagged.length}` : `more than ${tagged.length}`)
    return { agents: tagged.map(selectedOf), repeated: [], argument: 'with_tag', failed }
  })
}

/**
 * The agents with these ids or exact names. A name is that of an active agent, as everywhere, and it
 * means one only where all accounts could be read. Throws Refused and ApiError.
 */
function agentsInTreeByIds(given: readonly string[], run: SelectionRun): Promise<SelectedMany> {
  return withTree(run, async (read) => {
    const active = await read({})
    const isActive = (id: string) => active.owned.some(({ agent }) => isCalled(agent, id))
    const archived = given.every(isActive) ? undefined : await read({ is_archived: true })
    const failed = archived?.failed.length ? archived.failed : active.failed
    const isComplete = failed.length === 0 && active.isAll
    const whole = { failed, isAll: active.isAll && (archived?.isAll ?? true) }
    const agents = given.map((one): SelectedThing => {
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
      return { ...selectedOf(first), given: one }
    })
    return { ...agentsOnce(agents), failed }
  })
}

const hasId = ({ id }: Agent, given: string) => canonicalId(id) === canonicalId(given)
const isCalled = (agent: Agent, given: string) => hasId(agent, given) || agent.name === given

const selectedOf = ({ agent: { id, name }, account }: OwnedAgent): SelectedThing => ({
  ...{ given: name || id, id, account },
})

/** Reads the agents of all accounts that match. Throws ApiError. */
type ReadTree = (filters: object) => Promise<AgentsOfTree>

/** Half of the time is for reading, so that the other half is left for the changes. */
function withTree<T>(run: SelectionRun, work: (read: ReadTree) => Promise<T>): Promise<T> {
  const { restricted: session, request } = run
  const problem = whyNotTree(run)
  if (problem) throw badTree(problem)
  const msLeft = Math.min((run.answerBy - performance.now()) / 2, requestMs)
  return withTimeLimit(msLeft, run.signal, async (signal) => {
    const root = await rootAccount(request, session, signal)
    const tree = await readAccountTree(root, { session, signal, most: mostAccounts })
    if (tree.hasMore)
      throw badTree(
        `there are more than ${mostAccounts} accounts: give account_id, one branch at a time`,
      )
    return work((filters) => readTree(tree, filters, { ...run, signal, caller: run.signal }))
  })
}

const badTree = (message: string): Refused =>
  badArguments([{ argument: 'include_subaccounts', message }])

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
): Promise<AgentsOfTree> {
  const reading = { client: run.restricted.client, signal: run.signal }
  const branches = await mapConcurrently(tree.accounts, accountsAtOnce, async (account) => {
    try {
      return { account, hasRead: true, ...(await readAgents(account.id, filters, reading)) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { account, hasRead: false, agents: [], isAll: true, error }
    }
  })
  return {
    owned: branches.flatMap(({ account, agents }) => agents.map((agent) => ({ agent, account }))),
    failed: failedAccounts(branches, tree, { signal: run.caller }),
    isAll: branches.every(({ isAll }) => isAll),
  }
}

type Incomplete = Pick<AgentsOfTree, 'failed' | 'isAll'>

/** What could not be read; empty: everything was. */
const inWords = (failed: readonly FailedAccounts[]): string =>
  failed.length > 0 ? `as far as they could be read (${failedInWords(failed)})` : ''

const accountLabel = ({ id, name }: AccountInTree) => nameWithId(name && shownName(name), id)

const whyIncomplete = ({ failed }: Incomplete) =>
  inWords(failed) || 'as far as they were read: an account has too many agents'

function noneMeant(given: string, owned: readonly OwnedAgent[], read: Incomplete): string {
  const isWhole = read.failed.length === 0 && read.isAll
  const limits = isWhole ? '' : `, ${whyIncomplete(read)}`
  const known = owned.map(({ agent: { id, name } }) => ({ id, names: [name] }))
  const meant = closestItems(given, known).map(itemLabel).join(' or ')
  return `no agent of the account and its subaccounts has the id or name ${given}${limits}.${meant && ` Did you mean ${meant}?`}`
}

const severalMeant = (given: string, found: readonly OwnedAgent[]) =>
  `${found.length} agents are called "${given}"; give the id: ${found
    .slice(0, 5)
    .map(({ agent, account }) => `${agent.id} (in ${accountLabel(account)})`)
    .join(', ')}`

const notCertain = (given: string, { agent }: OwnedAgent, read: Incomplete) =>
  `it is not certain that only one agent is called "${given}", ${whyIncomplete(read)}; give the id: ${agent.id}`
