import * as z from 'zod'
import { severalAccountsShape } from '../lists/several-accounts.ts'
import { outcomeShape } from '../many/outcomes-in-words.ts'
import { type UpdateOutcome, updateOutcome, updateOutcomeShape } from '../many/update-outcomes.ts'
import type { AgentOutcome } from './each-agent.ts'
import type { UpdateReport } from './update-one-agent.ts'
import { isStillArchived } from './update-result.ts'

/** What became of one of many agents, whatever was to be done with it. */
export const agentOutcomeShape = {
  agent_id: z.string().optional().describe('Agent id.'),
  name: z.string().optional().describe('Its name, or how it was given.'),
  account: severalAccountsShape.item.account.optional(),
  ...outcomeShape.item,
}

/** What became of one of many agents that were to be updated. */
export const UpdatedAgent = z.object({
  ...agentOutcomeShape,
  ...updateOutcomeShape,
  modified: z.string().optional().describe('When it last changed.'),
  same_as: z
    .int()
    .optional()
    .describe('It has the changes and warnings of the agent in this place, from 1.'),
})
export type UpdatedAgent = z.output<typeof UpdatedAgent>

export function updatedAgent({
  given,
  id,
  account,
  outcome,
}: AgentOutcome<UpdateReport>): UpdatedAgent {
  const owner = account && { account: { ...account } }
  if (outcome.state !== 'done') {
    const { state, problem } = outcome
    return { ...(id && { agent_id: id }), name: given, ...owner, outcome: state, problem }
  }
  const { agent, changes, warnings } = outcome.value
  const facts = {
    agent_id: agent.id,
    ...(agent.name && { name: agent.name }),
    ...owner,
    outcome: outcomeOf(outcome.value),
    ...(agent.modified && { modified: agent.modified }),
  }
  if (facts.outcome === 'failed') return { ...facts, problem: warnings.join('; ') }
  return {
    ...facts,
    ...(changes.length > 0 && { changes: [...changes] }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  }
}

function outcomeOf(report: UpdateReport): UpdateOutcome {
  const outcome = updateOutcome(report)
  return outcome === 'unchanged' && isStillArchived(report.warnings) ? 'failed' : outcome
}
