import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import {
  countedInDialog,
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedNameWithId,
  quotedUpTo,
  wordOrQuoted,
} from '../../src/text/dialog-text.ts'
import { nameWithId } from '../../src/text/labels.ts'
import { accountForPerson } from '../../src/tool/account-reader.ts'
import {
  forEachSelected,
  type NamedOutcome,
  type Outcome,
  refuseIfNoneDone,
} from '../../src/tool/bulk.ts'
import {
  bulkResult,
  bulkResultShape,
  grouped,
  notDoneInWords,
  shownItemShape,
} from '../../src/tool/bulk-result.ts'
import { confirmOption } from '../../src/tool/confirmation.ts'
import { type Confirmable, confirmationShape } from '../../src/tool/confirmation-question.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  type AgentUse,
  agentUse,
  countInWords,
  foundInWords,
  isNone,
  numberInWords,
  type UseByAccount,
  unknownUse,
  useByAccount,
  useInWords,
  useOf,
} from '../../src/tool/in-use.ts'
import { type ItemSelection, namedItems, selectedItem } from '../../src/tool/item-selection.ts'
import { failedInWords, type Owned } from '../../src/tool/lists/complete-account-lists.ts'
import type { FailedAccounts } from '../../src/tool/lists/several-accounts.ts'
import { Refused } from '../../src/tool/refused.ts'
import type { Run, ToolOutcome } from '../../src/tool/tool.ts'
import { selectAgents, selectionOptions } from './agent-selection.ts'

const options = {
  ...selectionOptions,
  where: selectionOptions.where.describe('Instead: active ones that match all of these.'),
  unused_only: z.boolean().optional().describe('true: skip agents in use.'),
  ...confirmOption,
}

type ArchiveRun = Run<typeof routes.agents.archive, typeof options>

const outcomeNames = ['failed', 'unknown', 'not_tried', 'in_use', 'archived', 'unchanged'] as const

const schema = z
  .object({
    done: z.literal(true).describe('It was done.'),
    agent_id: z.string().describe('Agent id.'),
    name: z.string().describe('Its name.'),
    ...bulkResultShape,
    agents: z
      .array(
        z.object({
          agent_id: z.string().optional().describe('Agent id.'),
          ...shownItemShape,
          outcome: z.enum(outcomeNames).describe('unchanged: archived before; in_use: left out.'),
        }),
      )
      .describe('Many agents, in the order given.'),
  })
  .partial()
  .extend(confirmationShape)

/**
 * Archives one agent or many. Asks once if any of them is in use, or if a filter selects several.
 */
export const archiveAgent = defineTool({
  name: 'archive_agent',
  title: 'Archive agents',
  description:
    'Archives agents: lists leave them out, update_agent with is_archived false restores them. Asks for confirmation if one answers a number or is in a call, or a filter selects several.',
  route: routes.agents.archive,
  view: 'decision',
  listing: { hidden: ['with_tag'], undescribed: ['where'] },
  options,
  schema,
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const selected = await selectAgents(run.options, run)
    if (!('oneId' in selected)) return archiveManyAgents(selected, run)
    const { oneId: agentId } = selected
    if (!run.options.unused_only) return archiveOneAgent(agentId, run)
    const items = [{ given: agentId, id: agentId }]
    return archiveManyAgents(namedItems('agent_id', items), run)
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

const requestFor = (agent_id: string, { request }: ArchiveRun) => ({
  params: { ...request.params, agent_id },
  query: {},
})

const readAgent = (id: string, run: ArchiveRun): Promise<Agent> =>
  run.session.client.call(routes.agents.get, requestFor(id, run), run.signal)

const archive = (id: string, run: ArchiveRun): Promise<void> =>
  run.session.client.call(routes.agents.archive, requestFor(id, run), run.signal)

/**
 * Archives many agents. Reads all of them first, so that one question names the agents in use.
 * Throws Refused and ApiError if no agent was archived.
 */
async function archiveManyAgents(selection: ItemSelection, run: ArchiveRun): Promise<ToolOutcome> {
  const { items, argument, isByFilter, failed, notes } = selection
  const found = await forEachSelected(items, 'agent_id', readAgent, run)
  refuseIfNoneDone(found, argument)
  const active = found.flatMap(({ outcome, account }): Owned<Agent>[] =>
    outcome.state === 'done' && outcome.value.is_archived !== true
      ? [{ item: outcome.value, ...(account && { account }) }]
      : [],
  )
  const lookForUse = () => useByAccount(active, run)
  const use = run.options.unused_only && active.length > 0 ? await lookForUse() : undefined
  const kept = new Map(use && active.map((one) => [one.item, keptBack(one, use)]))
  const chosen = active.filter(({ item }) => !kept.get(item))
  if (chosen.length > 0)
    await run.confirm(async () =>
      archiveManyQuestion(
        chosen,
        {
          use: use ?? (await lookForUse()),
          kept: active.filter(({ item }) => kept.get(item)?.state === 'done'),
          failed,
          ...(isByFilter && items.length > 1 && { selectedBy: notes }),
        },
        run,
      ),
    )
  const archived = await archiveEach(chosen, run)
  const outcomes = found.map(({ outcome, ...one }): NamedOutcome<Archived> => {
    if (outcome.state !== 'done') return { ...one, outcome }
    const agent = outcome.value
    const own = archived.get(agent) ?? kept.get(agent) ?? done({ result: 'unchanged' })
    return { ...one, given: agent.name || one.given, id: agent.id, outcome: own }
  })
  refuseIfNoneDone(outcomes, argument)
  return archivesResult(outcomes, selection)
}

const done = (value: Archived): Outcome<Archived> => ({ state: 'done', value })

/** With `unused_only`: the reason to skip an agent; `undefined`: the agent is certainly unused. */
function keptBack(one: Owned<Agent>, uses: UseByAccount): Outcome<Archived> | undefined {
  const use = useOf(one, uses)
  const why = useInWords(one.item.id, use)
  if (why) return done({ result: 'in_use', why })
  const unknown = unknownUse(use)
  if (!unknown) return undefined
  const problem = `whether it is in use could not be read (${unknown})`
  return { state: 'failed', problem, error: new Refused('all_failed', problem) }
}

async function archiveEach(
  owned: readonly Owned<Agent>[],
  run: ArchiveRun,
): Promise<ReadonlyMap<Agent, Outcome<Archived> | undefined>> {
  const work = async (id: string, own: ArchiveRun): Promise<Archived> => {
    await archive(id, own)
    return { result: 'archived' }
  }
  const items = owned.map((one) => selectedItem(one))
  const outcomes = await forEachSelected(items, 'agent_id', work, run)
  return new Map(owned.map(({ item }, i) => [item, outcomes[i]?.outcome]))
}

interface Archived {
  /** `unchanged`: the agent was already archived. */
  readonly result: 'archived' | 'in_use' | 'unchanged'
  /** How the agent is used. */
  readonly why?: string
}

function archivesResult(
  outcomes: readonly NamedOutcome<Archived>[],
  selection: ItemSelection,
): ToolOutcome {
  const agents = outcomes.map(archivedAgent)
  const of = (name: string) => agents.filter(({ outcome }) => outcome === name)
  const [archived, unchanged] = [of('archived'), of('unchanged')]
  const { lines, structured } = bulkResult(agents, selection, {
    ...{ idArgument: 'agent_id', noun: 'agent', list: 'agents', order: outcomeNames },
    lines: (named) => [
      ...notDoneInWords(agents, named),
      ...grouped(of('in_use'), ({ problem = '' }) => [problem]).map(
        ([why, some]) => `In use, not archived: ${named(some)} ${why}`,
      ),
      ...(archived.length > 0 ? [`Archived: ${named(archived)}`] : []),
      ...(unchanged.length > 0 ? [`Archived before: ${named(unchanged)}`] : []),
    ],
  })
  if (archived.length === 0) return { structured, lines }
  const undo = archived.some(({ account }) => account) ? undoInTree : undoMany
  return { structured, lines: [...lines, undo] }
}

const undoMany = 'update_agent with agent_ids and is_archived false undoes it.'
const undoInTree =
  'update_agent with agent_ids (the ids), include_subaccounts true and is_archived false undoes it.'

function archivedAgent({ given, id, account, outcome }: NamedOutcome<Archived>) {
  const named = { id, name: given, account }
  if (outcome.state !== 'done')
    return { ...named, outcome: outcome.state, problem: outcome.problem }
  const { result, why } = outcome.value
  return { ...named, outcome: result, ...(why && { problem: why }) }
}

async function archiveQuestion(
  agent: Agent,
  { numbers, calls }: AgentUse,
  run: ArchiveRun,
): Promise<Confirmable> {
  return {
    kind: 'hides',
    stopsNothing: agent.is_archived === true || (isNone(numbers) && isNone(calls)),
    isDone: agent.is_archived ?? undefined,
    question: dialogText`Archive the agent ${quotedNameWithId(agent.name, agent.id)}?`,
    facts: {
      Agent: quotedNameWithId(agent.name, agent.id),
      'Answers numbers': foundInWords(numbers, numberInWords),
      'Calls running now': countInWords(calls),
      Account: await accountForPerson(run),
      Undo: dialogText`update_agent with agent_id ${wordOrQuoted(agent.id)} and is_archived false, if the platform takes it.`,
    },
    // The confirmation is void once the agent answers another number. Running calls change all the
    // time, so they are not part of it.
    scope: { numbers: numbers.items.map(({ id }) => id).sort() },
  }
}

/** The facts of a question about several agents. */
interface ManyFacts {
  readonly use: UseByAccount
  /** With `unused_only`: agents that are not archived because they are in use. */
  readonly kept: readonly Owned<Agent>[]
  /** Accounts whose agents could not be read. */
  readonly failed: readonly FailedAccounts[]
  /**
   * Sentences about the lists that a filter searched; absent if no filter selected the agents. A
   * selection by filter always needs confirmation.
   */
  readonly selectedBy?: readonly string[]
}

/** One question for several agents. Names the agents in use and their accounts. */
async function archiveManyQuestion(
  owned: readonly Owned<Agent>[],
  { use, kept, failed, selectedBy }: ManyFacts,
  run: ArchiveRun,
): Promise<Confirmable> {
  const usesOf = (those: readonly Owned<Agent>[]) =>
    those.flatMap((one) => {
      const what = useInWords(one.item.id, useOf(one, use))
      return what ? dialogText`${nameAmong(those, one)} ${what}` : []
    })
  const used = usesOf(owned)
  const unknown = unknownUses(owned, use)
  const account = await accountForPerson(run)
  const isOfTree = owned.some((one) => one.account)
  return {
    kind: 'hides',
    stopsNothing: used.length === 0 && unknown === undefined && selectedBy === undefined,
    question: dialogText`Archive ${countedInDialog(owned.length, dialogText`agent`)}?`,
    facts: {
      Agents: byAccount(owned),
      'In use': used.length > 0 ? joinDialogTexts(used, '; ') : dialogText`none that is known`,
      ...(used.length > 0 && {
        'Leave those out': dialogText`call again with unused_only true instead.`,
      }),
      ...(kept.length > 0 && { 'Not archived': joinDialogTexts(usesOf(kept), '; ') }),
      ...(selectedBy?.length && { Selected: quotedUpTo(selectedBy.join(' '), 500) }),
      ...(unknown && { 'Not known': unknown }),
      ...(failed.length > 0 && { 'Left out': quotedUpTo(failedInWords(failed), 500) }),
      Account: isOfTree ? dialogText`${account} and its subaccounts` : account,
      Undo: isOfTree
        ? dialogText`update_agent with agent_ids, include_subaccounts and is_archived false, if the platform takes it.`
        : dialogText`update_agent with agent_ids and is_archived false, if the platform takes it.`,
    },
    scope: {
      agents: owned.map(({ item: { id }, account: of }) => (of ? `${of.id} ${id}` : id)).sort(),
      numbers: [...use.values()].flatMap(({ numbers }) => numbers.items.map(({ id }) => id)).sort(),
    },
  }
}

/** Names of agents, grouped by account if there may be several accounts. */
function byAccount(owned: readonly Owned<Agent>[]): DialogText {
  const ids = [...new Set(owned.map(({ account }) => account?.id))]
  const groups = ids.map((id) => {
    const those = owned.filter(({ account }) => account?.id === id)
    const names = joinDialogTexts(
      those.map((one) => nameAmong(owned, one)),
      ', ',
    )
    const account = those[0]?.account
    return account ? dialogText`${names} in ${quotedNameWithId(account.name, account.id)}` : names
  })
  return joinDialogTexts(groups, '; ')
}

/**
 * Reason why the agents without a known use may still be in use, by account; `undefined`: they are
 * certainly unused.
 */
function unknownUses(owned: readonly Owned<Agent>[], uses: UseByAccount): DialogText | undefined {
  const parts = [...uses].flatMap(([id, use]) => {
    const unknown = unknownUse(use)
    if (!unknown) return []
    const account = owned.find((one) => one.account?.id === id)?.account
    return account ? dialogText`${quotedNameWithId(account.name, account.id)}: ${unknown}` : unknown
  })
  return parts.length > 0 ? joinDialogTexts(parts, '; ') : undefined
}

/** Name of an agent, with the id only if another agent in the list has the same name. */
function nameAmong(
  owned: readonly Owned<Agent>[],
  { item: { id, name } }: Owned<Agent>,
): DialogText {
  const isOnly = !!name && owned.filter(({ item }) => item.name === name).length === 1
  return isOnly ? quotedUpTo(name) : quotedNameWithId(name, id)
}
