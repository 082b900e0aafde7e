import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { refuseIfNoneDone } from '../many/none-done.ts'
import type { SelectedMany } from './agent-selection.ts'
import { eachAgent } from './each-agent.ts'
import { type NewValueChecks, newValueChecks } from './new-value-checks.ts'
import { updateOneAgent } from './update-one-agent.ts'
import type { UpdateRun } from './update-options.ts'
import { updatesResult } from './updates-result.ts'

/**
 * Makes the same change to many agents, each as one is updated. What was changed before a failure,
 * the time limit or a cancellation stays changed, and the result tells which; the same call again
 * finds nothing to change there. Throws Refused and ApiError where nothing was done.
 */
export async function updateManyAgents(
  { agents, repeated, argument, failed = [] }: SelectedMany,
  run: UpdateRun,
): Promise<ToolOutcome> {
  // A voice or a model may belong to one account, so each account has its own checks.
  const checks = new Map<string, NewValueChecks>()
  const update = (id: string, own: UpdateRun) => {
    const account = accountIn(own.request)
    const ofAccount = checks.get(account) ?? newValueChecks(own)
    checks.set(account, ofAccount)
    return updateOneAgent(id, own, ofAccount)
  }
  const outcomes = await eachAgent(agents, update, run)
  refuseIfNoneDone(outcomes, argument)
  const { dry_run: isDryRun = false, include_subaccounts: isTree } = run.options
  return updatesResult(outcomes, { repeated, failed, isDryRun, argument, isTree })
}
