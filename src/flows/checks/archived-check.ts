import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { nameWithId } from '../../text/closest-match.ts'
import { isArchived } from '../agents/is-archived.ts'
import type { AccountReader } from './account-reader.ts'
import { type CheckResult, ok, problem } from './check-result.ts'

/** Checks that an agent is not archived, by the lists of the platform. Throws ApiError. */
export async function checkNotArchived(
  agent: Agent,
  { call }: Pick<AccountReader, 'call'>,
): Promise<CheckResult> {
  const name = nameWithId(agent.name, agent.id)
  const archived = await isArchived(agent, (query) => call(routes.agents.list, { query }))
  if (archived === undefined)
    return ok('agent', `${name}; the platform does not show whether it is archived`)
  if (!archived) return ok('agent', name)
  return problem(
    'agent',
    `${name} is archived`,
    `bring it back with update_agent, agent_id ${agent.id}, is_archived false, or take another from list_agents`,
  )
}
