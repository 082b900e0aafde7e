import type { Agent } from '../../contract/agent.ts'
import { Refused } from '../../mcp/call/refused.ts'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { type AgentUse, agentUse } from '../in-use.ts'
import type { Outcome } from '../many/for-each.ts'
import { refuseIfNoneDone } from '../many/none-done.ts'
import { unknownUse, useInWords } from './agent-use-in-words.ts'
import { archiveManyQuestion } from './archive-question.ts'
import { type Archived, archivesResult } from './archives-result.ts'
import { type ArchiveRun, archive, readAgent } from './archiving.ts'
import { type AgentOutcome, eachAgent } from './each-agent.ts'
import type { SelectedMany } from './selected-agents.ts'

/**
 * Archives many agents, each as one is archived. All are read before any is archived, so that one
 * question says which of them are in use. Throws Refused and ApiError where nothing was done.
 */
export async function archiveManyAgents(
  { agents, repeated, argument }: SelectedMany,
  run: ArchiveRun,
): Promise<ToolOutcome> {
  const found = await eachAgent(agents, (id) => readAgent(id, run), run)
  refuseIfNoneDone(found, argument)
  const active = found.flatMap(({ outcome }) =>
    outcome.state === 'done' && outcome.value.is_archived !== true ? outcome.value : [],
  )
  const lookForUse = () =>
    agentUse(
      run,
      active.map(({ id }) => id),
    )
  const use = run.options.unused_only && active.length > 0 ? await lookForUse() : undefined
  const chosen = active.filter((agent) => !use || keptBack(agent, use) === undefined)
  if (chosen.length > 0)
    await run.confirm(async () => archiveManyQuestion(chosen, use ?? (await lookForUse()), run))
  const archived = await archiveEach(chosen, run)
  const outcomes = found.map((one) => outcomeOf(one, { use, archived }))
  refuseIfNoneDone(outcomes, argument)
  return archivesResult(outcomes, repeated)
}

const done = (value: Archived): Outcome<Archived> => ({ state: 'done', value })

/** Why an agent is not archived where only unused ones are; `undefined`: it is certainly unused. */
function keptBack({ id }: Agent, use: AgentUse): Outcome<Archived> | undefined {
  const why = useInWords(id, use)
  if (why) return done({ result: 'in_use', why })
  const unknown = unknownUse(use)
  if (!unknown) return undefined
  const problem = `whether it is in use could not be read (${unknown})`
  return { state: 'failed', problem, error: new Refused('all_failed', problem) }
}

/** Archives the agents; what became of each, by its id. */
async function archiveEach(
  agents: readonly Agent[],
  run: ArchiveRun,
): Promise<ReadonlyMap<string, Outcome<Archived>>> {
  const selected = agents.map(({ id, name }) => ({ id, given: name || id }))
  const work = async (id: string): Promise<Archived> => {
    await archive(id, run)
    return { result: 'archived' }
  }
  const outcomes = await eachAgent(selected, work, run)
  return new Map(outcomes.map(({ id = '', outcome }) => [id, outcome]))
}

interface ArchivingState {
  /** What uses the agents, where only unused ones are archived. */
  readonly use: AgentUse | undefined
  readonly archived: ReadonlyMap<string, Outcome<Archived>>
}

function outcomeOf(
  { given, id, outcome }: AgentOutcome<Agent>,
  { use, archived }: ArchivingState,
): AgentOutcome<Archived> {
  if (outcome.state !== 'done') return { given, id, outcome }
  const agent = outcome.value
  const named = { given: agent.name || given, id: agent.id }
  const own = archived.get(agent.id) ?? (use && keptBack(agent, use))
  return { ...named, outcome: own ?? done({ result: 'unchanged' }) }
}
