import { ApiError } from '../api/failure.ts'
import type { Agent } from '../contract/agent.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import type { ArgumentProblem } from './arguments.ts'
import type { Session } from './session.ts'

/** Arguments that name an agent, wherever they are sent. */
const agentArguments = ['agent_id', 'inbound_agent_id'] as const

/** True for what is an id and no name: the platform's ids are UUIDs [R]. */
export const isUuid = (text: string) =>
  /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text)

export type NamedRequest =
  | { ok: true; request: RouteRequest }
  | { ok: false; problems: ArgumentProblem[] }

/**
 * A request in which agents named by their exact name have become ids. What is a UUID is an id; what
 * no agent is called is passed on as it came, because ids are the platform's to know.
 */
export async function withAgentIds(
  request: RouteRequest,
  session: Session,
  signal: AbortSignal | undefined,
): Promise<NamedRequest> {
  const { params, query, body } = request
  const changed: Record<string, string> = {}
  for (const argument of agentArguments) {
    const given = params[argument] ?? query[argument] ?? body?.[argument]
    if (typeof given !== 'string' || isUuid(given)) continue
    const found = await agentsCalled(given, request.params, session, signal)
    if (found.length > 1) return { ok: false, problems: [ambiguous(argument, given, found)] }
    if (found[0]) changed[argument] = found[0].id
  }
  const replaced = <T extends object>(part: T): T => ({
    ...part,
    ...Object.fromEntries(Object.entries(changed).filter(([name]) => name in part)),
  })
  return {
    ok: true,
    request: {
      params: replaced(params),
      query: replaced(query),
      ...(body && { body: replaced(body) }),
    },
  }
}

/** Agents of that exact name: those in use, or if there are none, archived ones. */
async function agentsCalled(
  name: string,
  { account_id = 'me' }: RouteRequest['params'],
  { client }: Session,
  signal: AbortSignal | undefined,
): Promise<Agent[]> {
  const request = {
    params: { account_id },
    query: { name, include_archived: true, limit: 100 },
  }
  try {
    const { items } = await client.call(routes.agents.list, request, signal)
    const exact = items.filter((agent) => agent.name === name)
    const active = exact.filter(({ is_archived }) => !is_archived)
    return active.length > 0 ? active : exact
  } catch (error) {
    // What the platform refuses here it refuses there too, and says so in terms of that tool.
    if (error instanceof ApiError && error.failure.kind === 'rejected') return []
    throw error
  }
}

/** Namesakes that are told. */
const mostNamed = 5

const ambiguous = (argument: string, name: string, agents: Agent[]): ArgumentProblem => ({
  argument,
  message: `${agents.length} agents are called "${name}"; give the id${agents.length > mostNamed ? ', such as one of' : ''}: ${agents
    .slice(0, mostNamed)
    .map(({ id, created }) => (created ? `${id} (created ${created})` : id))
    .join(', ')}`,
})
