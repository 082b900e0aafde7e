import { Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import type { AccountInTree } from '../../session/account-tree.ts'
import { forEach, type Outcome } from '../many/for-each.ts'
import { withMissingHint } from '../many/missing-thing.ts'
import type { NamedOutcome } from '../many/none-done.ts'
import type { SelectedThing } from '../many/selected-things.ts'

/** What became of one of many agents. */
export interface AgentOutcome<T> extends NamedOutcome<T> {
  readonly id?: string | undefined
  /** Whose it is, where agents of several accounts can be meant. */
  readonly account?: AccountInTree | undefined
}

type EachRun = Pick<Run, 'request' | 'restricted' | 'signal' | 'answerBy' | 'progress'>

/**
 * Does the same with each of the agents, with a run on its account; one that does not exist fails with
 * what may be meant.
 */
export async function eachAgent<T, R extends EachRun>(
  agents: readonly SelectedThing[],
  work: (agentId: string, run: R) => Promise<T>,
  run: R,
): Promise<AgentOutcome<T>[]> {
  const outcomes = await forEach(
    agents,
    ({ id, account, problem = 'it is not known which agent is meant' }) => {
      if (id === undefined) throw new Refused('bad_arguments', problem)
      return work(id, runIn(account, run))
    },
    run,
  )
  return Promise.all(
    agents.map(async ({ given, id, account }, at) => {
      const outcome = outcomes[at] as Outcome<T>
      const named = { argument: 'agent_id', given } as const
      return {
        ...{ given, id, ...(account && { account }) },
        outcome: await withMissingHint(outcome, named, runIn(account, run)),
      }
    }),
  )
}

/** The run on the account of an agent, if that is known. */
export const runIn = <R extends Pick<Run, 'request'>>(
  account: AccountInTree | undefined,
  run: R,
): R => {
  if (!account) return run
  const params = { ...run.request.params, account_id: account.id }
  return { ...run, request: { ...run.request, params } }
}
