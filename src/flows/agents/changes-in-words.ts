import { shownName } from '../../text/shown-name.ts'
import type { FieldChange } from '../field-changes.ts'
import { grouped, type Names, namesOf, notDoneInWords } from '../many/outcomes-in-words.ts'
import { changeText } from './update-result.ts'
import type { UpdatedAgent } from './updated-agent.ts'

/** What an update did to many agents, in lines: what failed first, and what is the same for several once. */
export function changesInWords(agents: readonly UpdatedAgent[]): string[] {
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
