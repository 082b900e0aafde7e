import { ApiError } from '../../api/failure.ts'
import type { Agent } from '../../contract/agent.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { accountIn } from '../../session/account.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'

/** Arguments that name an agent, wherever they are sent. */
const agentArguments = ['agent_id', 'inbound_agent_id'] as const

/** Whether a text is an id, not a name: the platform's ids are UUIDs [R]. */
export const isUuid = (text: string) =>
  /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text)

export type NamedRequest =
  | {
      ok: true
      request: RouteRequest
      /** Arguments that are neither a UUID nor the name of an agent. */
      unknown: string[]
    }
  | { ok: false; problem: AgentNameProblem }

/** Why a name does not say which agent is meant. */
interface AgentNameProblem {
  readonly argument: string
  readonly message: string
}

/**
 * The request with ids in place of agents' exact names. A UUID is taken as an id. A text that is not
 * an agent's name is sent unchanged, because the platform decides what an id is.
 */
export async function withAgentIds(
  request: RouteRequest,
  session: RestrictedSession,
  signal: AbortSignal | undefined,
): Promise<NamedRequest> {
  // Where the list is not exposed, only ids work: an answer would reveal names.
  if (!session.mayRead(routes.agents.list)) return { ok: true, request, unknown: [] }
  const ids: Record<string, string> = {}
  const unknown: string[] = []
  for (const argument of agentArguments) {
    const given = request.params[argument] ?? request.query[argument] ?? request.body?.[argument]
    if (typeof given !== 'string' || isUuid(given)) continue
    const { found, isAll } = await agentsCalled(given, request.params, session, signal)
    if (found.length > 1) return { ok: false, problem: ambiguous(argument, given, found) }
    if (!isAll) return { ok: false, problem: uncertain(argument, given) }
    if (found[0]) ids[argument] = found[0].id
    else unknown.push(argument)
  }
  return { ok: true, unknown, request: withValues(request, ids) }
}

/**
 * The id of one agent that is given by id or exact name. A text that is neither a UUID nor the name of
 * an agent is taken as an id, because the platform decides what an id is. Throws ApiError.
 */
export async function agentIdOf(
  given: string,
  { request: { params }, restricted, signal }: AgentLookup,
): Promise<{ readonly id: string } | { readonly problem: string }> {
  if (isUuid(given) || !restricted.mayRead(routes.agents.list)) return { id: given }
  const { found, isAll } = await agentsCalled(given, params, restricted, signal)
  if (found.length > 1) return { problem: ambiguous('', given, found).message }
  return isAll ? { id: found[0]?.id ?? given } : { problem: uncertain('', given).message }
}

interface AgentLookup {
  readonly request: Pick<RouteRequest, 'params'>
  readonly restricted: RestrictedSession
  readonly signal: AbortSignal | undefined
}

/** The request with these values in place of its own, wherever it sends the arguments. */
function withValues(
  { params, query, body }: RouteRequest,
  values: Readonly<Record<string, string>>,
): RouteRequest {
  const replaced = <T extends object>(part: T): T => ({
    ...part,
    ...Object.fromEntries(Object.entries(values).filter(([name]) => name in part)),
  })
  return {
    params: replaced(params),
    query: replaced(query),
    ...(body && { body: replaced(body) }),
  }
}

/** How many agents are read at a time, and how often, to be sure that only one has the name. */
const perPage = 100
const mostPages = 20

interface Called {
  readonly found: Agent[]
  /** False: there are more agents than were read, so that another may have the name too. */
  readonly isAll: boolean
}

/**
 * Active agents with that exact name. Archived ones are found by id only: only the readiness check,
 * and an update that brings an agent back, ask the platform for archived agents.
 */
async function agentsCalled(
  name: string,
  params: RouteRequest['params'],
  session: RestrictedSession,
  signal: AbortSignal | undefined,
): Promise<Called> {
  try {
    const { agents, isAll } = await agentsLike({ name }, params, session, signal)
    return { found: agents.filter((agent) => agent.name === name), isAll }
  } catch (error) {
    // What the platform refuses here it refuses there too, and says so in terms of that tool.
    if (error instanceof ApiError && error.failure.kind === 'rejected')
      return { found: [], isAll: true }
    throw error
  }
}

/** All whose name holds these words: the platform finds parts of names, and gives them in pages. */
async function agentsLike(
  filters: object,
  params: RouteRequest['params'],
  { client }: RestrictedSession,
  signal: AbortSignal | undefined,
): Promise<{ agents: Agent[]; isAll: boolean }> {
  const agents = new Map<string, Agent>()
  let offset = 0
  for (let page = 0; page < mostPages; page++) {
    const query = { ...filters, limit: perPage, offset }
    const asked = { params: { account_id: accountIn({ params }) }, query }
    const { items, count } = await client.call(routes.agents.list, asked, signal)
    const before = agents.size
    for (const agent of items) agents.set(agent.id, agent)
    offset += items.length
    const isOver = count === undefined ? items.length === 0 : offset >= count
    // A platform that gives the same page again has no further pages.
    if (isOver || agents.size === before) return { agents: [...agents.values()], isAll: true }
  }
  return { agents: [...agents.values()], isAll: false }
}

/** How many agents of the same name an error names. */
const mostNamed = 5

const ambiguous = (argument: string, name: string, agents: Agent[]): AgentNameProblem => ({
  argument,
  message: `${agents.length} agents are called "${name}"; give the id${agents.length > mostNamed ? ', such as one of' : ''}: ${agents
    .slice(0, mostNamed)
    .map(({ id, created }) => (created ? `${id} (created ${created})` : id))
    .join(', ')}`,
})

const uncertain = (argument: string, name: string): AgentNameProblem => ({
  argument,
  message: `more than ${mostPages * perPage} agents have "${name}" in their name, so it is not certain which one is meant; give the id`,
})
