import * as z from 'zod'
import type { routes } from '../../contract/routes.ts'
import { confirmationShape } from '../../mcp/call/confirmation-results.ts'
import type { Steps, ToolOutcome } from '../../mcp/call/tool.ts'
import { nameWithId } from '../../text/closest-match.ts'
import { agentUse } from '../in-use.ts'
import { archiveManyAgents } from './archive-many-agents.ts'
import { archiveQuestion } from './archive-question.ts'
import { archivesResultShape } from './archives-result.ts'
import { type ArchiveRun, archive, archiveOptions, readAgent } from './archiving.ts'
import { selectedAgents } from './selected-agents.ts'

const schema = z
  .object({
    done: z.literal(true).describe('It was done.'),
    agent_id: z.string().describe('Agent id.'),
    name: z.string().describe('Its name.'),
    ...archivesResultShape,
  })
  .partial()
  .extend(confirmationShape)

/** Archives one agent or many, after one confirmation where any of them is in use. */
export const archiveAgentSteps: Steps<typeof routes.agents.archive, typeof archiveOptions> = {
  options: archiveOptions,
  schema,
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const selected = await selectedAgents(run.options, run)
    if (!('agentId' in selected)) return archiveManyAgents(selected, run)
    const { agentId } = selected
    if (!run.options.unused_only) return archiveOneAgent(agentId, run)
    const agents = [{ given: agentId, id: agentId }]
    return archiveManyAgents({ agents, repeated: [], argument: 'agent_id' }, run)
  },
}

async function archiveOneAgent(agentId: string, run: ArchiveRun): Promise<ToolOutcome> {
  const agent = await readAgent(agentId, run)
  const { id, name } = agent
  await run.confirm(async () => archiveQuestion(agent, await agentUse(run, [id]), run))
  await archive(id, run)
  return {
    structured: { done: true, agent_id: id, ...(name && { name }) },
    lines: [`Archived agent ${nameWithId(name, id)}. ${undo}`],
  }
}

const undo = 'update_agent with its id and is_archived false brings it back.'
