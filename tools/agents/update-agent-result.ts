import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { shownName } from '../../src/text/dialog-text.ts'
import { isObject } from '../../src/text/json.ts'
import { nameWithId } from '../../src/text/labels.ts'
import { grouped, type Names } from '../../src/tool/bulk-result.ts'
import {
  type FieldChange,
  type Fields,
  leavesOf,
  shortJson,
  valueAt,
} from '../../src/tool/field-changes.ts'
import { listChangeInWords } from '../../src/tool/list-edits.ts'
import {
  type UpdatedItem,
  type UpdateReport,
  updatedItemShape,
  updateHead,
  updateResultShape,
} from '../../src/tool/update-items.ts'

/** Result of an update: for one agent, its name and the changes; for several, one result each. */
export const updatedAgentsShape = {
  agent_id: z.string().describe('Agent id.'),
  name: z.string().nullable().describe('Its name.'),
  modified: z.string().nullable().describe('When it last changed.'),
  ...updateResultShape,
  agents: z
    .array(
      z.object({
        agent_id: z.string().optional().describe('Agent id.'),
        ...updatedItemShape,
        modified: z.string().optional().describe('When it last changed.'),
        same_as: z
          .int()
          .optional()
          .describe('Same changes and warnings as the agent at this position, from 1.'),
      }),
    )
    .describe('Many agents, in the order given.'),
}

/** How the result of an update shows agents. `given`: the values that the caller asked for. */
export const agentsInResult = (given: Fields) => ({
  one(report: UpdateReport<Agent>) {
    const { item: agent, changes } = report
    const { id, name = null, modified = null } = agent
    const head = `${updateHead(report, `agent ${nameWithId(name, id)}`, 'bring back')}; modified ${modified ?? 'unknown'}.`
    return {
      fields: { agent_id: id, name, modified },
      head,
      after: sameValues(agent, given, changes),
    }
  },
  nameOf: ({ name }: Agent) => name,
  changeInWords: (change: FieldChange) => `${change.field}: ${changeText(change)}`,
  many: {
    factsOf: ({ modified }: Agent) => (modified ? { modified } : {}),
    listed: withChangesOnce,
    lines: changesInWords,
  },
})

/**
 * The given values that the agent already had. A partly changed free-form object is shown key by
 * key.
 */
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

/** A change as text. Replies may lack `is_archived` [R], so a missing value is `unknown`. */
function changeText({ field, before, after }: FieldChange, longest?: number): string {
  const isUnknown = field === 'is_archived' && before === undefined
  return `${isUnknown ? 'unknown' : shortJson(before, longest)} → ${shortJson(after, longest)}`
}

/**
 * Lists equal changes once. Later agents refer by 1-based index to the first agent with the same
 * changes.
 */
function withChangesOnce(agents: readonly UpdatedItem[]): UpdatedItem[] {
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

/** Warnings and changes as lines, each text once. */
function changesInWords(agents: readonly UpdatedItem[], named: Names<UpdatedItem>): string[] {
  const of = (name: string) => agents.filter(({ outcome }) => outcome === name)
  return [
    ...grouped(agents, ({ warnings = [] }) => warnings).map(
      ([warning, some]) =>
        `Warning: ${warning}${some.length < agents.length ? ` (${named(some)})` : ''}`,
    ),
    ...changedInWords(of('updated'), 'Updated', named),
    ...changedInWords(of('would_change'), 'Would change', named),
  ]
}

/** Groups agents with the same changed fields. Each field lists its different changes once. */
function changedInWords(
  agents: readonly UpdatedItem[],
  verb: string,
  named: Names<UpdatedItem>,
): string[] {
  const fieldsOf = ({ changes = [] }: UpdatedItem) => changes.map(({ field }) => field)
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

/** Maximum length of a value when many agents are shown, characters: a usual greeting fits. */
const longestValue = 300

function shortChange({ field, before, after }: FieldChange): string {
  const edit = listChangeInWords(before, after, shownName)
  return edit || changeText({ field, before, after }, longestValue)
}
