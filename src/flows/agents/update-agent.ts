import * as z from 'zod'
import type { routes } from '../../contract/routes.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import { newValueChecks } from './new-value-checks.ts'
import { selectedAgents } from './selected-agents.ts'
import { refuseContradictingTags, tagOptions } from './tag-changes.ts'
import { updateManyAgents } from './update-many-agents.ts'
import { updateOneAgent } from './update-one-agent.ts'
import { updateOptions } from './update-options.ts'
import { updateResult, updateResultShape } from './update-result.ts'
import { updatesResultShape } from './updates-result.ts'

/** Updates one agent, or the same fields of many. */
export const updateAgentSteps: Steps<typeof routes.agents.update, typeof updateOptions> = {
  options: updateOptions,
  changes: Object.keys(tagOptions),
  schema: z.object({ ...updateResultShape, ...updatesResultShape }).partial(),
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const { options, body } = run
    refuseContradictingTags(options, body)
    const selected = await selectedAgents(options, run)
    if ('agentId' in selected)
      return updateResult(await updateOneAgent(selected.agentId, run, newValueChecks(run)))
    if (options.expected_modified !== undefined)
      throw badArguments([
        { argument: 'expected_modified', message: 'belongs to one agent: give it with agent_id' },
      ])
    return updateManyAgents(selected, run)
  },
}
