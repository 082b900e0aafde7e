import * as z from 'zod'
import { routes } from '../../src/contract/routes.ts'
import { nameWithId } from '../../src/text/closest-match.ts'
import { confirmationShape } from '../../src/tool/confirmation-question.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { type AgentUse, agentUse } from '../../src/tool/in-use.ts'
import { severalAccountsShape } from '../../src/tool/lists/several-accounts.ts'
import { type Outcome, refuseIfNoneDone } from '../../src/tool/many.ts'
import {
  countsOf,
  grouped,
  namesOf,
  notDoneInWords,
  outcomeShape,
  repeatedLines,
} from '../../src/tool/many-result.ts'
import { Refused } from '../../src/tool/refused.ts'
import type { ToolOutcome } from '../../src/tool/tool.ts'
import {
  type AgentOutcome,
  eachAgent,
  failedLines,
  failedShown,
  type SelectedMany,
  tagLines,
} from './agent-selection.ts'
import {
  type ArchiveRun,
  archive,
  archiveManyQuestion,
  archiveOptions,
  archiveQuestion,
  type OwnedAgent,
  readAgent,
  type UseByAccount,
  unknownUse,
  useByAccount,
  useInWords,
  useOf,
} from './archive-question.ts'
import { selectedAgents } from './selected-agents.ts'
import { agentOutcomeShape } from './updated-agents.ts'

const outcomeNames = ['failed', 'unknown', 'not_tried', 'in_use', 'archived', 'unchanged'] as const

/** The result for many agents. */
const archivesResultShape = {
  ...outcomeShape.result,
  ...severalAccountsShape.result,
  agents: z
    .array(
      z.object({
        ...agentOutcomeShape,
        outcome: z.enum(outcomeNames).describe('unchanged: archived before; in_use: left out.'),
      }),
    )
    .describe('Many agents, in the order given.'),
}

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
export const archiveAgent = defineTool({
  name: 'archive_agent',
  title: 'Archive agents',
  description:
    'Archives an agent or many (a soft delete): lists leave them out. A preview names those in use. update_agent with is_archived false brings back.',
  route: routes.agents.archive,
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
})

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

/**
 * Archives many agents, each as one is archived. All are read before any is archived, so that one
 * question says which of them are in use. Throws Refused and ApiError where nothing was done.
 */
async function archiveManyAgents(
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
  // What uses agents was looked for among those that are to be archived only.
  const isActive = agent.is_archived !== true
  const own = archived.get(keyOf(owned)) ?? (use && isActive ? keptBack(owned, use) : undefined)
  const named = { ...one, given: agent.name || one.given, id: agent.id }
  return { ...named, outcome: own ?? done({ result: 'unchanged' }) }
}

/** What became of an agent that was to be archived. */
interface Archived {
  /** unchanged: it was archived before. */
  readonly result: 'archived' | 'in_use' | 'unchanged'
  /** What it is used for. */
  readonly why?: string
}

function archivesResult(
  outcomes: readonly AgentOutcome<Archived>[],
  { repeated, failed, argument }: Omit<Required<SelectedMany>, 'agents'>,
  isTree: boolean | undefined,
): ToolOutcome {
  const agents = outcomes.map(archivedAgent)
  const { summary, text } = countsOf(agents, outcomeNames, 'agent')
  const named = namesOf(agents, ({ agent_id }) => agent_id)
  const of = (name: string) => agents.filter(({ outcome }) => outcome === name)
  const [archived, unchanged] = [of('archived'), of('unchanged')]
  return {
    structured: { summary, ...failedShown(failed), agents },
    lines: [
      text,
      ...failedLines(failed),
      ...repeatedLines(repeated),
      ...notDoneInWords(agents, named),
      ...grouped(of('in_use'), ({ problem = '' }) => [problem]).map(
        ([why, some]) => `In use, not archived: ${named(some)} ${why}`,
      ),
      ...(archived.length > 0 ? [`Archived: ${named(archived)}`] : []),
      ...(unchanged.length > 0 ? [`Archived before: ${named(unchanged)}`] : []),
      ...tagLines(argument, isTree),
      ...(archived.length > 0
        ? [archived.some(({ account }) => account) ? undoInTree : undoMany]
        : []),
    ],
  }
}

const undoMany = 'update_agent with agent_ids and is_archived false undoes it.'
const undoInTree =
  'update_agent with agent_ids (the ids), include_subaccounts true and is_archived false undoes it.'

function archivedAgent({ given, id, account, outcome }: AgentOutcome<Archived>) {
  const named = { ...(id && { agent_id: id }), name: given, ...(account && { account }) }
  if (outcome.state !== 'done')
    return { ...named, outcome: outcome.state, problem: outcome.problem }
  const { result, why } = outcome.value
  return { ...named, outcome: result, ...(why && { problem: why }) }
}
