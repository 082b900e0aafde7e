import * as z from 'zod'
import type { Agent } from '../../contract/agent.ts'
import { badArguments, type Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { closestWord } from '../../text/closest-match.ts'
import type { FailedAccounts } from '../lists/several-accounts.ts'
import { mostThings } from '../many/for-each.ts'
import { eachOnce, manyIds, type SelectedThing } from '../many/selected-things.ts'

/** Arguments that say which agents are meant: exactly one of the first three is given. */
export const agentSelection = {
  agent_id: z.string().min(1).optional().describe('Agent id.'),
  agent_ids: manyIds.describe('Many, by id or name.'),
  with_tag: z.string().min(1).optional().describe('All active ones of the account with this tag.'),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: agent_ids and with_tag mean agents of all subaccounts too.'),
}

export type Selection = z.output<z.ZodObject<typeof agentSelection>>
export type SelectionRun = Pick<Run, 'request' | 'restricted' | 'session' | 'signal' | 'answerBy'>

/** Many agents; a list of one counts as many. */
export interface SelectedMany {
  readonly agents: readonly SelectedThing[]
  /** Names and ids of agents that were named before: they are not done twice. */
  readonly repeated: readonly string[]
  /** The argument that named them. */
  readonly argument: 'agent_id' | 'agent_ids' | 'with_tag'
  /** Accounts whose agents could not be looked for. */
  readonly failed?: readonly FailedAccounts[]
}

/** The agents of `agent_ids`, each once. */
export function agentsOnce(agents: readonly SelectedThing[]): SelectedMany {
  const { things, repeated } = eachOnce(agents)
  return { agents: things, repeated, argument: 'agent_ids' }
}

export const badTag = (message: string): Refused =>
  badArguments([{ argument: 'with_tag', message }])

export const tooManyTagged = (count: string): Refused =>
  badTag(
    `${count} agents have it, and one call takes ${mostThings}; take them from list_agents with tags, and give them in agent_ids, a part at a time`,
  )

/** Which of the agents' tags may be meant instead of one that none has. */
export function tagMeant(tag: string, agents: readonly Agent[]): string {
  const known = [...new Set(agents.flatMap(({ tags }) => tags ?? []))]
  const meant = closestWord(tag, known)
  if (meant) return `did you mean ${meant}?`
  const some = known.slice(0, 10).join(', ')
  return some ? `tags that agents have: ${some}` : 'no agent has any tag'
}
