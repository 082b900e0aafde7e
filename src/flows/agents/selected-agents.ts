import * as z from 'zod'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { badArguments, type Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { idMeant } from '../../mcp/hints/names-to-ids.ts'
import { accountIn } from '../../session/account.ts'
import { type AllItems, readAllItems } from '../../session/read-all-items.ts'
import { canonicalId } from '../../text/canonical-id.ts'
import { closestWord } from '../../text/closest-match.ts'
import { forEach, mostThings } from '../many/for-each.ts'

/** Arguments that say which agents are meant: exactly one of them is given. */
export const agentSelection = {
  agent_id: z.string().min(1).optional().describe('Agent id.'),
  agent_ids: z
    .array(z.string().min(1))
    .min(1)
    .max(mostThings)
    .optional()
    .describe('Many, by id or name.'),
  with_tag: z.string().min(1).optional().describe('All active ones with this tag.'),
}

type Selection = z.output<z.ZodObject<typeof agentSelection>>
type SelectionRun = Pick<Run, 'request' | 'restricted' | 'session' | 'signal' | 'answerBy'>

/** One of many agents that are meant, or why it is not known which one is. */
export interface SelectedAgent {
  /** As it was given: an id or a name. */
  readonly given: string
  readonly id?: string
  readonly problem?: string
}

/** Many agents; a list of one counts as many. */
export interface SelectedMany {
  readonly agents: readonly SelectedAgent[]
  /** Names and ids of agents that were named before: they are not done twice. */
  readonly repeated: readonly string[]
  /** The argument that named them. */
  readonly argument: 'agent_id' | 'agent_ids' | 'with_tag'
}

export type SelectedAgents = { readonly agentId: string } | SelectedMany

/** The agents that the arguments mean. Throws Refused and ApiError. */
export async function selectedAgents(
  { agent_ids: ids, with_tag: tag }: Selection,
  run: SelectionRun,
): Promise<SelectedAgents> {
  const { agent_id: agentId } = run.request.params
  const given = [agentId, ids, tag].filter((one) => one !== undefined)
  if (given.length !== 1) throw notOneSelection(given.length)
  if (ids) return agentsByIds(ids, run)
  if (tag !== undefined)
    return { agents: await agentsWithTag(tag, run), repeated: [], argument: 'with_tag' }
  return { agentId: agentId ?? '' }
}

const notOneSelection = (count: number) =>
  badArguments([
    {
      argument: 'agent_id',
      message: `${count === 0 ? 'required' : 'too much'}: give exactly one of agent_id, agent_ids and with_tag`,
    },
  ])

/** Each agent once, however often and by whatever it is named. */
async function agentsByIds(given: readonly string[], run: SelectionRun): Promise<SelectedMany> {
  const lookup = { params: run.request.params, session: run.restricted, signal: run.signal }
  const found = await forEach(given, (one) => idMeant('agent_id', one, lookup), {
    ...run,
    progress: () => {},
  })
  const agents = found.map((outcome, at): SelectedAgent => {
    const one = { given: given[at] ?? '' }
    return outcome.state === 'done'
      ? { ...one, ...outcome.value }
      : { ...one, problem: outcome.problem }
  })
  const keys = agents.map(({ id, given: name }) => canonicalId(id ?? name))
  const isFirst = (_: SelectedAgent, at: number) => keys.indexOf(keys[at] ?? '') === at
  return {
    agents: agents.filter(isFirst),
    repeated: agents.filter((one, at) => !isFirst(one, at)).map((one) => one.given),
    argument: 'agent_ids',
  }
}

async function agentsWithTag(tag: string, run: SelectionRun): Promise<SelectedAgent[]> {
  if (!run.restricted.mayRead(routes.agents.list))
    throw badTag('needs list_agents, which this server does not offer; give agent_ids')
  const { items: agents, isAll } = await readAgents({ tags: [tag] }, run)
  // The platform may read a tag with a comma as several tags [R].
  const tagged = agents.filter((agent) => agent.tags?.includes(tag))
  if (tagged.length === 0) throw badTag(await noneWithTag(tag, run))
  if (isAll && tagged.length <= mostThings)
    return tagged.map(({ id, name }) => ({ given: name || id, id }))
  throw badTag(
    `${isAll ? tagged.length : `more than ${tagged.length}`} agents have it, and one call takes ${mostThings}; take them from list_agents with tags, and give them in agent_ids, a part at a time`,
  )
}

const badTag = (message: string): Refused => badArguments([{ argument: 'with_tag', message }])

async function noneWithTag(tag: string, run: SelectionRun): Promise<string> {
  const { items: agents } = await readAgents({}, run)
  const known = [...new Set(agents.flatMap(({ tags }) => tags ?? []))]
  const meant = closestWord(tag, known)
  const some = known.length > 0 && `tags that agents have: ${known.slice(0, 10).join(', ')}`
  return `no active agent has the tag ${tag}; ${meant ? `did you mean ${meant}?` : some || 'no agent has any tag'}`
}

/** Active agents, on all pages. */
function readAgents(
  filters: object,
  { request, restricted, signal }: SelectionRun,
): Promise<AllItems<Agent>> {
  const params = { account_id: accountIn(request) }
  return readAllItems((page) => {
    const asked = { params, query: { ...filters, ...page } }
    return restricted.client.call(routes.agents.list, asked, signal)
  })
}
