import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { nameWithId } from '../../src/text/closest-match.ts'
import { shownName } from '../../src/text/dialog-text.ts'
import { isObject } from '../../src/text/json.ts'
import type { NamedOutcome } from '../../src/tool/bulk.ts'
import {
  countsOf,
  grouped,
  type Names,
  namesOf,
  outcomeShape,
  type UpdateReport,
  updateHead,
  updateLines,
  updateOutcome,
  updateOutcomeShape,
  updateOutcomes,
  updateWarnings,
} from '../../src/tool/bulk-result.ts'
import {
  type FieldChange,
  type Fields,
  fieldChanges,
  leavesOf,
  shortJson,
  valueAt,
} from '../../src/tool/field-changes.ts'
import {
  listChangeInWords,
  type MissingEntries,
  missingEverywhere,
  missingWarnings,
} from '../../src/tool/list-edits.ts'
import { accountOnce } from '../../src/tool/lists/list-fields.ts'
import { severalAccountsShape } from '../../src/tool/lists/several-accounts.ts'
import { type ItemSelection, selectionResult } from '../../src/tool/selection.ts'
import type { OutputWithLines } from '../../src/tool/tool.ts'

/** The effect of an update on one agent, real or in a dry run. */
export interface AgentReport extends UpdateReport {
  readonly agent: Agent
  /** Entries to remove that its lists did not have. */
  readonly missing: readonly MissingEntries[]
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

export function updateResult(report: AgentReport, given: Fields = {}): OutputWithLines {
  const { agent, applied, changes, missing } = report
  const { id, name, modified } = agent
  const warnings = [...missing.flatMap(missingWarnings), ...report.warnings]
  const lines = [
    `${updateHead(report, `agent ${nameWithId(name, id)}`, 'bring back')}; modified ${modified ?? 'unknown'}.`,
    // Warnings first: if there are many changes, the last lines are left out.
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...changes.map((change) => `${change.field}: ${changeText(change)}`),
    ...sameValues(agent, given, changes),
  ]
  const names = { agent_id: id, name: name ?? null, modified: modified ?? null }
  return { structured: { ...names, applied, changes, warnings }, lines }
}

/** The given values that the agent had before. Of free data that changed in part, key by key. */
function sameValues(agent: Agent, given: Fields, changes: readonly FieldChange[]): string[] {
  const isWithin = (path: string, above: string) => path.startsWith(`${above}.`)
  const isChanged = (path: string) =>
    changes.some(({ field }) => path === field || isWithin(path, field) || isWithin(field, path))
  const paths = leavesOf(given).flatMap((path) => {
    const value = valueAt(given, path)
    const isPart = isObject(value) && changes.some(({ field }) => isWithin(field, path))
    return isPart ? Object.keys(value).map((key) => `${path}.${key}`) : [path]
  })
  const same = paths.filter((path) => {
    const value = valueAt(given, path)
    return value !== undefined && !isChanged(path) && isDeepStrictEqual(valueAt(agent, path), value)
  })
  if (same.length === 0) return []
  return [
    `As before: ${same.map((path) => `${path} ${shortJson(valueAt(agent, path))}`).join(', ')}.`,
  ]
}

/** Replies may lack `is_archived` [R]: its absence proves nothing. */
function changeText({ field, before, after }: FieldChange, longest?: number): string {
  const isUnknown = field === 'is_archived' && before === undefined
  return `${isUnknown ? 'unknown' : shortJson(before, longest)} → ${shortJson(after, longest)}`
}

/** The result for one agent of any bulk operation. */
export const agentOutcomeShape = {
  agent_id: z.string().optional().describe('Agent id.'),
  name: z.string().optional().describe('Its name, or how it was given.'),
  account: severalAccountsShape.item.account.optional(),
  ...outcomeShape.item,
}

const UpdatedAgent = z.object({
  ...agentOutcomeShape,
  ...updateOutcomeShape,
  modified: z.string().optional().describe('When it last changed.'),
  same_as: z
    .int()
    .optional()
    .describe('Same changes and warnings as the agent at this position, from 1.'),
})
type UpdatedAgent = z.output<typeof UpdatedAgent>

/** The result for many agents. */
export const updatesResultShape = {
  ...outcomeShape.result,
  ...severalAccountsShape.result,
  agents: z.array(UpdatedAgent).describe('Many agents, in the order given.'),
}

export function updatesResult(
  outcomes: readonly NamedOutcome<AgentReport>[],
  selection: ItemSelection,
  options: { readonly dry_run?: boolean | undefined },
): OutputWithLines {
  const agents = outcomes.map(updatedAgent)
  const { summary, text } = countsOf(agents, updateOutcomes, 'agent')
  const { fields, before, after } = selectionResult(selection)
  const { shared, items } = accountOnce(withChangesOnce(agents))
  return {
    structured: { summary, ...fields, ...shared, agents: items },
    lines: [
      `${options.dry_run ? 'Dry run, nothing saved. ' : ''}${text}`,
      ...before,
      ...missingOfAll(outcomes),
      ...changesInWords(agents),
      ...after,
    ],
  }
}

/** Warnings about entries to remove that no agent had. */
function missingOfAll(outcomes: readonly NamedOutcome<AgentReport>[]): string[] {
  const reports = outcomes.flatMap(({ outcome }) => (outcome.state === 'done' ? outcome.value : []))
  return missingEverywhere(reports.map(({ missing }) => missing))
    .flatMap(missingWarnings)
    .map((warning) => `Warning: ${warning}`)
}

/** Lists equal changes once; further agents refer to the first by index. */
function withChangesOnce(agents: readonly UpdatedAgent[]): UpdatedAgent[] {
  const places = new Map<string, number>()
  return agents.map((agent, i) => {
    const { changes, warnings, ...facts } = agent
    if (!changes && !warnings) return agent
    const key = JSON.stringify([changes, warnings])
    const place = places.get(key)
    if (place !== undefined) return { ...facts, same_as: place }
    places.set(key, i + 1)
    return agent
  })
}

function updatedAgent({ given, id, account, outcome }: NamedOutcome<AgentReport>): UpdatedAgent {
  const agent = outcome.state === 'done' ? outcome.value.agent : { id, name: given, modified: null }
  const { outcome: name, ...rest } = updateOutcome(outcome)
  return {
    ...(agent.id && { agent_id: agent.id }),
    ...(agent.name && { name: agent.name }),
    ...(account && { account: { ...account } }),
    outcome: name,
    ...(agent.modified && { modified: agent.modified }),
    ...rest,
  }
}

/** A bulk update in lines: failures first, equal changes once. */
function changesInWords(agents: readonly UpdatedAgent[]): string[] {
  const named = namesOf(agents, ({ agent_id }) => agent_id)
  const of = (name: string) => agents.filter(({ outcome }) => outcome === name)
  return updateLines(agents, named, [
    ...grouped(agents, ({ warnings = [] }) => warnings).map(
      ([warning, some]) =>
        `Warning: ${warning}${some.length < agents.length ? ` (${named(some)})` : ''}`,
    ),
    ...changedInWords(of('updated'), 'Updated', named),
    ...changedInWords(of('would_change'), 'Would change', named),
  ])
}

/** Groups agents whose changed fields are the same; a field lists each different change once. */
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

/** Longest value of one of many agents, in characters: a usual greeting is shown whole. */
const longestValue = 300

function shortChange({ field, before, after }: Partial<FieldChange> & { field: string }): string {
  const edit = listChangeInWords(before, after, shownName)
  return edit || changeText({ field, before, after }, longestValue)
}
