import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { refuseIfNoneDone } from '../many/none-done.ts'
import { eachAgent } from './each-agent.ts'
import type { NewValueChecks } from './new-value-checks.ts'
import type { SelectedMany } from './selected-agents.ts'
import { updateOneAgent } from './update-one-agent.ts'
import type { UpdateRun } from './update-options.ts'
import { updatesResult } from './updates-result.ts'

/**
 * Makes the same change to many agents, each as one is updated. What was changed before a failure,
 * the time limit or a cancellation stays changed, and the result tells which; the same call again
 * finds nothing to change there. Throws Refused and ApiError where nothing was done.
 */
export async function updateManyAgents(
  { agents, repeated, argument }: SelectedMany,
  run: UpdateRun,
  checks: NewValueChecks,
): Promise<ToolOutcome> {
  const outcomes = await eachAgent(agents, (id) => updateOneAgent(id, run, checks), run)
  refuseIfNoneDone(outcomes, argument)
  return updatesResult(outcomes, { repeated, isDryRun: run.options.dry_run === true })
}
