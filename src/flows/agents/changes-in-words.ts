import { nameWithId } from '../../text/closest-match.ts'
import type { FieldChange } from './field-changes.ts'
import { changeText } from './update-result.ts'
import type { UpdatedAgent } from './updated-agent.ts'

/** What became of many agents, in lines: what failed first, and what is the same for several once. */
export function changesInWords(agents: readonly UpdatedAgent[]): string[] {
  const label = labels(agents)
  const named = (some: readonly UpdatedAgent[]) => some.map(label).join(', ')
  const of = (...names: string[]) => agents.filter(({ outcome }) => names.includes(outcome))
  const unchanged = of('unchanged')
  return [
    ...grouped(of('failed'), ({ problem = '' }) => [problem]).map(
      ([problem, some]) => `Failed: ${named(some)}: ${problem}`,
    ),
    ...grouped(of('unknown'), ({ problem = '' }) => [problem]).map(
      ([problem, some]) => `Not known whether it was saved: ${named(some)}: ${problem}`,
    ),
    ...grouped(of('not_tried'), ({ problem = '' }) => [problem]).map(
      ([problem, some]) => `Not tried: ${named(some)}: ${problem}`,
    ),
    ...(of('unknown', 'not_tried').length > 0 ? [again] : []),
    ...grouped(agents, ({ warnings = [] }) => warnings).map(
      ([warning, some]) =>
        `Warning: ${warning}${some.length < agents.length ? ` (${named(some)})` : ''}`,
    ),
    ...changedInWords(of('updated'), 'Updated', named),
    ...changedInWords(of('would_change'), 'Would change', named),
    ...(unchanged.length > 0 ? [`Unchanged: ${named(unchanged)}`] : []),
  ]
}

const again =
  'Call again with the same arguments: what is changed already stays as it is, and counts as unchanged.'

/** Agents by their texts: those with the same text are one group. */
function grouped(
  agents: readonly UpdatedAgent[],
  textsOf: (agent: UpdatedAgent) => readonly string[],
): [string, UpdatedAgent[]][] {
  const groups = new Map<string, UpdatedAgent[]>()
  for (const agent of agents) {
    for (const text of textsOf(agent)) {
      const group = groups.get(text)
      if (group) group.push(agent)
      else groups.set(text, [agent])
    }
  }
  return [...groups]
}

/** Agents in which the same fields changed are one group; a field has each different change once. */
function changedInWords(
  agents: readonly UpdatedAgent[],
  verb: string,
  named: (some: readonly UpdatedAgent[]) => string,
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
  const stored: readonly unknown[] = Array.isArray(before) ? before : []
  const added = after.filter((tag) => !stored.includes(tag)).map((tag) => `+${tag}`)
  const removed = stored.filter((tag) => !after.includes(tag)).map((tag) => `−${tag}`)
  return [...added, ...removed].join(' ')
}

/** How agents are named: by name alone where that is enough. */
function labels(agents: readonly UpdatedAgent[]): (agent: UpdatedAgent) => string {
  const names = agents.map(({ name }) => name)
  return ({ agent_id: id, name }) => {
    const isClear = name !== undefined && names.indexOf(name) === names.lastIndexOf(name)
    return isClear || id === undefined ? (name ?? '') : nameWithId(name, id)
  }
}
