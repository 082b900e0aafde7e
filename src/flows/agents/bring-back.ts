import { ignoreApiError } from '../../api/failure.ts'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'

import { accountIn } from '../../session/account.ts'
import type { FieldChange } from '../field-changes.ts'
import { isArchived } from './is-archived.ts'

/*
 * Bringing an archived agent back: `is_archived: false` is sent. The reference does not publish this
 * field, and replies need not have it, so the lists are asked afterwards whether it worked. They are
 * not asked before: the field is always sent.
 */

/** The change to show. What the field was before is known only if the reply has it. */
export const bringBackChange = ({ is_archived: before }: Agent): FieldChange[] =>
  before === false ? [] : [{ field: 'is_archived', before: before ?? undefined, after: false }]

/** What the lists say of an agent after `is_archived: false` was sent for it. */
export type BringBackResult = 'active' | 'still archived' | 'not known'

export async function bringBackResult(
  agent: Agent,
  { request, session, signal }: Pick<Run, 'request' | 'session' | 'signal'>,
): Promise<BringBackResult> {
  const account_id = accountIn(request)
  const archived = await isArchived(agent, (query) =>
    session.client
      .call(routes.agents.list, { params: { account_id }, query }, signal)
      // The update was made: a list that cannot be read must not turn it into a failure.
      .catch(ignoreApiError),
  )
  if (archived === undefined) return 'not known'
  return archived ? 'still archived' : 'active'
}

export const bringBackWarnings: Readonly<Record<BringBackResult, readonly string[]>> = {
  active: [],
  'still archived': ['is_archived: the platform ignored it; the agent is still archived'],
  'not known': [
    'is_archived: it was sent, but the platform does not show whether the agent is back',
  ],
}
