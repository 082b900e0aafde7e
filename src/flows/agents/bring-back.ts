import { ApiError } from '../../api/failure.ts'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { isArchived } from './archived.ts'
import type { Change } from './changes.ts'

/*
 * Bringing an archived agent back. How is not published, and replies need not say what is archived
 * [R], so the lists are asked before and after.
 */

type Reading = Pick<Run, 'request' | 'session' | 'signal'>

export const broughtBack: Change = { field: 'is_archived', before: true, after: false }

export const notBack = (isArchivedNow: true | undefined) =>
  isArchivedNow
    ? 'is_archived: the platform ignored it; the agent is still archived'
    : 'is_archived: it was sent, but the platform does not show whether the agent is back'

/** What the lists say; a list that cannot be read must not turn an update that was made into a failure. */
export const isStillArchived = (agent: Agent, { request, session, signal }: Reading) =>
  isArchived(agent, async (query) => {
    const account_id = accountIn(request)
    const asked = { params: { account_id }, query }
    return session.client.call(routes.agents.list, asked, signal).catch(unlessRefused)
  })

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}
