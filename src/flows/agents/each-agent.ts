import { ApiError } from '../../api/failure.ts'
import { Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { hintFor } from '../../mcp/hints/did-you-mean.ts'
import { isNotFound } from '../../mcp/hints/missing-references.ts'
import { forEach, type Outcome } from '../many/for-each.ts'
import type { NamedOutcome } from '../many/none-done.ts'
import type { SelectedAgent } from './selected-agents.ts'

/** What became of one of many agents. */
export interface AgentOutcome<T> extends NamedOutcome<T> {
  readonly id?: string | undefined
}

type EachRun = Pick<Run, 'request' | 'restricted' | 'signal' | 'answerBy' | 'progress'>

/** Does the same with each of the agents; one that does not exist fails with what may be meant. */
export async function eachAgent<T>(
  agents: readonly SelectedAgent[],
  work: (agentId: string) => Promise<T>,
  run: EachRun,
): Promise<AgentOutcome<T>[]> {
  const outcomes = await forEach(
    agents,
    ({ id, problem = 'it is not known which agent is meant' }) => {
      if (id === undefined) throw new Refused('bad_arguments', problem)
      return work(id)
    },
    run,
  )
  return Promise.all(
    agents.map(async ({ given, id }, at) => {
      const outcome = outcomes[at] as Outcome<T>
      return { given, id, outcome: await withHint(outcome, given, run) }
    }),
  )
}

async function withHint<T>(
  outcome: Outcome<T>,
  given: string,
  { request, restricted }: EachRun,
): Promise<Outcome<T>> {
  if (outcome.state !== 'failed' || !(outcome.error instanceof ApiError)) return outcome
  if (!isNotFound(outcome.error)) return outcome
  const hint = await hintFor('agent_id', given, request, restricted)
  return { ...outcome, problem: [`There is no agent ${given}.`, hint].filter(Boolean).join(' ') }
}
