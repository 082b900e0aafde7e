import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { nameWithId } from '../../src/text/closest-match.ts'
import { shownName } from '../../src/text/dialog-text.ts'
import { type FieldChange, fieldChanges } from '../../src/tool/field-changes.ts'
import { type FailedAccounts, severalAccountsShape } from '../../src/tool/lists/several-accounts.ts'
import {
  countsOf,
  grouped,
  type Names,
  namesOf,
  notDoneInWords,
  outcomeShape,
  repeatedLines,
  type UpdateOutcome,
  updateOutcome,
  updateOutcomeShape,
  updateOutcomes,
  updateWarnings,
} from '../../src/tool/many-result.ts'
import type { ToolOutcome } from '../../src/tool/tool.ts'
import { bringBackWarnings, shortJson } from './agent-patch.ts'
import type { AgentOutcome, SelectedMany } from './agent-selection.ts'
import { failedLines, failedShown, tagLines } from './agent-selection.ts'
import { missingTagWarnings, tagsOf } from './tag-changes.ts'

/** What an update did to one agent, or would do. */
export interface UpdateReport {
  /** The agent afterwards. */
  readonly agent: Agent
  /** False: nothing was saved. */
  readonly applied: boolean
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
  /** Tags to remove that the agent did not have. */
  readonly missingTags: readonly string[]
}

/** The result for one agent. */
export const updateResultShape = {
  agent_id: z.string().describe('Agent id.'),
  name: z.string().nullable().describe('Its name.'),
  applied: z.boolean().describe('False: nothing was saved.'),
  modified: z.string().nullable().describe('When it last changed.'),
  changes: fieldChanges,
  warnings: updateWarnings,
}

export function updateResult(report: UpdateReport): ToolOutcome {
  const { agent, applied, changes, missingTags } = report
  const { id, name, modified } = agent
  const warnings = [...missingTagWarnings(missingTags, tagsOf(agent)), ...report.warnings]
  const lines = [
    `${headOf(report)}; modified ${modified ?? 'unknown'}.`,
    // Warnings first: if there are many changes, the last lines are left out.
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...changes.map((change) => `${change.field}: ${changeText(change)}`),
  ]
  const names = { agent_id: id, name: name ?? null, modified: modified ?? null }
  return { structured: { ...names, applied, changes, warnings }, lines }
}

/** Replies need not have `is_archived` [R], so its absence says nothing about its value. */
function changeText({ field, before, after }: FieldChange, longest?: number): string {
  const isUnknown = field === 'is_archived' && before === undefined
  return `${isUnknown ? 'unknown' : shortJson(before, longest)} → ${shortJson(after, longest)}`
}

function headOf({ agent, applied, changes, warnings }: UpdateReport): string {
  const named = `agent ${nameWithId(agent.name, agent.id)}`
  if (applied) return `Updated ${named}`
  if (changes.length > 0) return `Dry run, nothing saved: ${named} would change`
  return isStillArchived(warnings)
    ? `Nothing changed: the platform did not bring back ${named}`
    : `Nothing to change: ${named} has these values already`
}

/** Whether an agent was to be brought back, and the platform did not do it. */
const isStillArchived = (warnings: readonly string[]): boolean =>
  bringBackWarnings['still archived'].some((one) => warnings.includes(one))

/** What became of one of many agents, whatever was to be done with it. */
export const agentOutcomeShape = {
  agent_id: z.string().optional().describe('Agent id.'),
  name: z.string().optional().describe('Its name, or how it was given.'),
  account: severalAccountsShape.item.account.optional(),
  ...outcomeShape.item,
}

/** What became of one of many agents that were to be updated. */
const UpdatedAgent = z.object({
  ...agentOutcomeShape,
  ...updateOutcomeShape,
  modified: z.string().optional().describe('When it last changed.'),
  same_as: z
    .int()
    .optional()
    .describe('It has the changes and warnings of the agent in this place, from 1.'),
})
type UpdatedAgent = z.output<typeof UpdatedAgent>

/** The result for many agents. */
export const updatesResultShape = {
  ...outcomeShape.result,
  ...severalAccountsShape.result,
  agents: z.array(UpdatedAgent).describe('Many agents, in the order given.'),
}

interface UpdatesFacts {
  readonly repeated: readonly string[]
  readonly failed: readonly FailedAccounts[]
  readonly isDryRun: boolean
  readonly argument: SelectedMany['argument']
  /** Agents of subaccounts are meant, too. */
  readonly isTree: boolean | undefined
}

export function updatesResult(
  outcomes: readonly AgentOutcome<UpdateReport>[],
  { repeated, failed, isDryRun, argument, isTree }: UpdatesFacts,
): ToolOutcome {
  const agents = outcomes.map(updatedAgent)
  const { summary, text } = countsOf(agents, updateOutcomes, 'agent')
  return {
    structured: { summary, ...failedShown(failed), agents: withChangesOnce(agents) },
    lines: [
      `${isDryRun ? 'Dry run, nothing saved. ' : ''}${text}`,
      ...failedLines(failed),
      ...repeatedLines(repeated),
      ...tagsOfNone(outcomes),
      ...changesInWords(agents),
      ...tagLines(argument, isTree),
    ],
  }
}

/** Warnings about tags to remove that no agent had: that some do not have them is no mistake. */
function tagsOfNone(outcomes: readonly AgentOutcome<UpdateReport>[]): string[] {
  const reports = outcomes.flatMap(({ outcome }) => (outcome.state === 'done' ? outcome.value : []))
  const known = [...new Set(reports.flatMap(({ agent }) => tagsOf(agent)))]
  const [first = [], ...others] = reports.map(({ missingTags }) => missingTags)
  const sets = others.map((missing) => new Set(missing))
  const ofNone = first.filter((tag) => sets.every((missing) => missing.has(tag)))
  return missingTagWarnings(ofNone, known).map((warning) => `Warning: ${warning}`)
}

/** The first of several agents with the same changes has them, the others its place. */
function withChangesOnce(agents: readonly UpdatedAgent[]): UpdatedAgent[] {
  const places = new Map<string, number>()
  return agents.map((agent, at) => {
    const { changes, warnings, ...facts } = agent
    if (!changes && !warnings) return agent
    const key = JSON.stringify([changes, warnings])
    const place = places.get(key)
    if (place !== undefined) return { ...facts, same_as: place }
    places.set(key, at + 1)
    return agent
  })
}

function updatedAgent({ given, id, account, outcome }: AgentOutcome<UpdateReport>): UpdatedAgent {
  const owner = account && { account: { ...account } }
  if (outcome.state !== 'done') {
    const { state, problem } = outcome
    return { ...(id && { agent_id: id }), name: given, ...owner, outcome: state, problem }
  }
  const { agent, changes, warnings } = outcome.value
  const facts = {
    agent_id: agent.id,
    ...(agent.name && { name: agent.name }),
    ...owner,
    outcome: outcomeOf(outcome.value),
    ...(agent.modified && { modified: agent.modified }),
  }
  if (facts.outcome === 'failed') return { ...facts, problem: warnings.join('; ') }
  return {
    ...facts,
    ...(changes.length > 0 && { changes: [...changes] }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  }
}

function outcomeOf(report: UpdateReport): UpdateOutcome {
  const outcome = updateOutcome(report)
  return outcome === 'unchanged' && isStillArchived(report.warnings) ? 'failed' : outcome
}

/** What an update did to many agents, in lines: what failed first, and what is the same for several once. */
function changesInWords(agents: readonly UpdatedAgent[]): string[] {
  const named = namesOf(agents, ({ agent_id }) => agent_id)
  const of = (name: string) => agents.filter(({ outcome }) => outcome === name)
  const unchanged = of('unchanged')
  return [
    ...notDoneInWords(agents, named),
    ...grouped(agents, ({ warnings = [] }) => warnings).map(
      ([warning, some]) =>
        `Warning: ${warning}${some.length < agents.length ? ` (${named(some)})` : ''}`,
    ),
    ...changedInWords(of('updated'), 'Updated', named),
    ...changedInWords(of('would_change'), 'Would change', named),
    ...(unchanged.length > 0 ? [`Unchanged: ${named(unchanged)}`] : []),
  ]
}

/** Agents in which the same fields changed are one group; a field has each different change once. */
function changedInWords(
  agents: readonly UpdatedAgent[],
  verb: string,
  named: Names<UpdatedAgent>,
): string[] {
  const fieldsOf = ({ changes = [] }: UpdatedAgent) => changes.map(({ field }) => field)
  return grouped(agents, (agent) => [JSON.stringify(fieldsOf(agent))]).flatMap(([, some]) => [
    `${verb}: ${named(some)}`,
    ...[...new Set(some.flatMap(fieldsOf))].map((field) => {
      const variants = grouped(some, ({ changes = [] }) =>
        changes.filter((change) => change.field === field).map(shortChange),
      )
      const texts = variants.map(([text, those]) =>
        variants.length > 1 ? `${text} (${named(those)})` : text,
      )
      return `${field}: ${texts.join('; ')}`
    }),
  ])
}

/** Longest value of one of many agents, in characters. */
const longestValue = 150

function shortChange({ field, before, after }: Partial<FieldChange> & { field: string }): string {
  const tags = field === 'tags' && tagsInWords(before, after)
  return tags || changeText({ field, before, after }, longestValue)
}

/** `+new −old`: lists of tags differ between agents, and what was done to them is the same. */
function tagsInWords(before: unknown, after: unknown): string {
  if (!Array.isArray(after)) return ''
  const stored = new Set<unknown>(Array.isArray(before) ? before : [])
  const wanted = new Set<unknown>(after)
  const added = after.filter((tag) => !stored.has(tag)).map((tag) => `+${shownName(String(tag))}`)
  const removed = [...stored].filter((tag) => !wanted.has(tag))
  return [...added, ...removed.map((tag) => `−${shownName(String(tag))}`)].join(' ')
}
