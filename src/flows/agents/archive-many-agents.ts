import { Refused } from '../../mcp/call/refused.ts'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import type { AgentUse } from '../in-use.ts'
import type { Outcome } from '../many/for-each.ts'
import { refuseIfNoneDone } from '../many/none-done.ts'
import type { SelectedMany } from './agent-selection.ts'
import { unknownUse, useInWords } from './agent-use-in-words.ts'
import { archiveManyQuestion } from './archive-question.ts'
import { type Archived, archivesResult } from './archives-result.ts'
import { type ArchiveRun, archive, readAgent } from './archiving.ts'
import { type AgentOutcome, eachAgent } from './each-agent.ts'
import { type OwnedAgent, type UseByAccount, useByAccount, useOf } from './use-by-account.ts'

/**
 * Archives many agents, each as one is archived. All are read before any is archived, so that one
 * question says which of them are in use. Throws Refused and ApiError where nothing was done.
 */
export async function archiveManyAgents(
  { agents, repeated, argument, failed = [] }: SelectedMany,
  run: ArchiveRun,
): Promise<ToolOutcome> {
  const found = await eachAgent(agents, readAgent, run)
  refuseIfNoneDone(found, argument)
  const active = found.flatMap(({ outcome, account }): OwnedAgent[] =>
    outcome.state === 'done' && outcome.value.is_archived !== true
      ? [{ agent: outcome.value, account }]
      : [],
  )
  const lookForUse = () => useByAccount(active, run)
  const use = run.options.unused_only && active.length > 0 ? await lookForUse() : undefined
  const chosen = active.filter((one) => !use || keptBack(one, use) === undefined)
  if (chosen.length > 0)
    await run.confirm(async () =>
      archiveManyQuestion(chosen, { use: use ?? (await lookForUse()), failed }, run),
    )
  const archived = await archiveEach(chosen, run)
  const outcomes = found.map((one) => outcomeOf(one, { use, archived }))
  refuseIfNoneDone(outcomes, argument)
  return archivesResult(outcomes, { repeated, failed, argument }, run.options.include_subaccounts)
}

const done = (value: Archived): Outcome<Archived> => ({ state: 'done', value })

/** Why an agent is not archived where only unused ones are; `undefined`: it is certainly unused. */
function keptBack(one: OwnedAgent, uses: UseByAccount): Outcome<Archived> | undefined {
  const use: AgentUse = useOf(one, uses)
  const why = useInWords(one.agent.id, use)
  if (why) return done({ result: 'in_use', why })
  const unknown = unknownUse(use)
  if (!unknown) return undefined
  const problem = `whether it is in use could not be read (${unknown})`
  return { state: 'failed', problem, error: new Refused('all_failed', problem) }
}

/** Archives the agents; what became of each, by the key of its agent. */
async function archiveEach(
  agents: readonly OwnedAgent[],
  run: ArchiveRun,
): Promise<ReadonlyMap<string, Outcome<Archived>>> {
  const selected = agents.map(({ agent: { id, name }, account }) => ({
    ...{ id, given: name || id },
    ...(account && { account }),
  }))
  const work = async (id: string, own: ArchiveRun): Promise<Archived> => {
    await archive(id, own)
    return { result: 'archived' }
  }
  const outcomes = await eachAgent(selected, work, run)
  return new Map(
    outcomes.map(({ id = '', account, outcome }) => [keyOf({ agent: { id }, account }), outcome]),
  )
}

const keyOf = ({ agent, account }: Pick<OwnedAgent, 'account'> & { agent: { id: string } }) =>
  `${agent.id} ${account?.id ?? ''}`

interface ArchivingState {
  /** What uses the agents, where only unused ones are archived. */
  readonly use: UseByAccount | undefined
  readonly archived: ReadonlyMap<string, Outcome<Archived>>
}

function outcomeOf(
  { outcome, ...one }: AgentOutcome<OwnedAgent['agent']>,
  { use, archived }: ArchivingState,
): AgentOutcome<Archived> {
  if (outcome.state !== 'done') return { ...one, outcome }
  const agent = outcome.value
  const owned = { agent, account: one.account }
  const own = archived.get(keyOf(owned)) ?? (use && keptBack(owned, use))
  const named = { ...one, given: agent.name || one.given, id: agent.id }
  return { ...named, outcome: own ?? done({ result: 'unchanged' }) }
}
