import { routes } from '../../contract/routes.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import { idMeant } from '../../mcp/hints/names-to-ids.ts'
import { accountIn } from '../../session/account.ts'
import { forEach, mostThings } from '../many/for-each.ts'
import type { SelectedThing } from '../many/selected-things.ts'
import {
  agentsOnce,
  badTag,
  type SelectedMany,
  type Selection,
  type SelectionRun,
  tagMeant,
  tooManyTagged,
} from './agent-selection.ts'
import { agentsInTreeByIds, agentsInTreeWithTag } from './agents-in-tree.ts'
import { readAgents } from './read-agents.ts'

export type SelectedAgents = { readonly agentId: string } | SelectedMany

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
