import * as z from 'zod'
import { nameWithId } from '../../text/closest-match.ts'

/** What became of one of many agents, whatever was to be done with it. */
export const agentOutcomeShape = {
  agent_id: z.string().optional().describe('Agent id.'),
  name: z.string().optional().describe('Its name, or how it was given.'),
  problem: z.string().optional().describe('Why it was not done.'),
}

interface ShownAgent extends z.output<z.ZodObject<typeof agentOutcomeShape>> {
  readonly outcome: string
}

/** `3 failed, 12 updated`, and the same as numbers; `order` has the outcomes, the worst first. */
export function countsOf(
  agents: readonly ShownAgent[],
  order: readonly string[],
): { readonly summary: Record<string, number>; readonly text: string } {
  const counts = order.map(
    (name) => [name, agents.filter(({ outcome }) => outcome === name).length] as const,
  )
  const some = counts.filter(([, count]) => count > 0)
  return {
    summary: Object.fromEntries(some),
    text: `${agents.length} agents: ${some.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ')}.`,
  }
}

/** Agents that failed, or were not tried, with the reason; one reason of several agents once. */
export function notDoneInWords(agents: readonly ShownAgent[], named: Names): string[] {
  const of = (name: string, words: string) =>
    grouped(
      agents.filter(({ outcome }) => outcome === name),
      ({ problem = '' }) => [problem],
    ).map(([problem, some]) => `${words}: ${named(some)}: ${problem}`)
  const open = [...of('unknown', 'Not known whether it was done'), ...of('not_tried', 'Not tried')]
  return [...of('failed', 'Failed'), ...open, ...(open.length > 0 ? [again] : [])]
}

const again =
  'Call again with the same arguments: what is done already stays as it is, and counts as unchanged.'

/** Agents by their texts: those with the same text are one group. */
export function grouped<T>(
  agents: readonly T[],
  textsOf: (agent: T) => readonly string[],
): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const agent of agents) {
    for (const text of textsOf(agent)) {
      const group = groups.get(text)
      if (group) group.push(agent)
      else groups.set(text, [agent])
    }
  }
  return [...groups]
}

/** The names of some agents. */
export type Names = (some: readonly ShownAgent[]) => string

/** How agents are named: by name alone where that is enough. */
export function namesOf(all: readonly ShownAgent[]): Names {
  const names = all.map(({ name }) => name)
  const label = ({ agent_id: id, name }: ShownAgent) => {
    const isClear = name !== undefined && names.indexOf(name) === names.lastIndexOf(name)
    return isClear || id === undefined ? (name ?? '') : nameWithId(name, id)
  }
  return (some) => some.map(label).join(', ')
}
