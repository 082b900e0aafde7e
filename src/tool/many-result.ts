import * as z from 'zod'
import { nameWithId } from '../text/closest-match.ts'
import { counted, shownName } from '../text/dialog-text.ts'
import { fieldChanges } from './field-changes.ts'

/** What every result of many things has. */
export const outcomeShape = {
  /** Of all. */
  result: { summary: z.record(z.string(), z.int()).describe('How many came to what.') },
  /** Of each. */
  item: { problem: z.string().optional().describe('Why it was not done.') },
}

/** What became of one of many things, whatever was to be done with it. */
interface ShownThing {
  readonly name?: string | undefined
  readonly outcome: string
  readonly problem?: string | undefined
  /** Whose it is, where things of several accounts can be meant. */
  readonly account?: { readonly id: string; readonly name?: string | undefined } | undefined
}

/** `3 failed, 12 updated`, and the same as numbers; `order` has the outcomes, the worst first. */
export function countsOf(
  things: readonly ShownThing[],
  order: readonly string[],
  noun: string,
): { readonly summary: Record<string, number>; readonly text: string } {
  const counts = order.map(
    (name) => [name, things.filter(({ outcome }) => outcome === name).length] as const,
  )
  const some = counts.filter(([, count]) => count > 0)
  return {
    summary: Object.fromEntries(some),
    text: `${counted(things.length, noun)}: ${some.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ')}.`,
  }
}

/** What failed, or was not tried, with the reason; one reason of several things once. */
export function notDoneInWords<T extends ShownThing>(
  things: readonly T[],
  named: Names<T>,
): string[] {
  const of = (name: string, words: string) =>
    grouped(
      things.filter(({ outcome }) => outcome === name),
      ({ problem = '' }) => [problem],
    ).map(([problem, some]) => `${words}: ${named(some)}: ${problem}`)
  const open = [...of('unknown', 'Not known whether it was done'), ...of('not_tried', 'Not tried')]
  return [...of('failed', 'Failed'), ...open, ...(open.length > 0 ? [again] : [])]
}

/** What was given more than once, and so left out the second time; nothing where all was given once. */
export const repeatedLines = (repeated: readonly string[]): string[] =>
  repeated.length > 0 ? [`Given more than once: ${repeated.map(shownName).join(', ')}.`] : []

const again =
  'Call again with the same arguments: what is done already stays as it is, and counts as unchanged.'

/** Things by their texts: those with the same text are one group. */
export function grouped<T>(
  things: readonly T[],
  textsOf: (thing: T) => readonly string[],
): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const thing of things) {
    for (const text of textsOf(thing)) {
      const group = groups.get(text)
      if (group) group.push(thing)
      else groups.set(text, [thing])
    }
  }
  return [...groups]
}

/** The names of some things. */
export type Names<T> = (some: readonly T[]) => string

/**
 * How things are named: by name alone where that is enough. Those of several accounts are named by
 * account: `Front desk, Sales (in Hamburg branch)`.
 */
export function namesOf<T extends ShownThing>(
  all: readonly T[],
  idOf: (thing: T) => string | undefined,
): Names<T> {
  const nameIn = ({ name, account }: T) => JSON.stringify([name, account?.id])
  const names = all.map(nameIn)
  const label = (thing: T) => {
    const { name } = thing
    const id = idOf(thing)
    const own = nameIn(thing)
    const isClear = name !== undefined && names.indexOf(own) === names.lastIndexOf(own)
    const shown = shownName(name ?? '')
    return isClear || id === undefined ? shown : nameWithId(name && shown, id)
  }
  const accounts = new Map(all.flatMap(({ account }) => (account ? [[account.id, account]] : [])))
  const accountLabel = (id: string) => {
    const name = accounts.get(id)?.name
    const isClear = [...accounts.values()].filter((one) => one.name === name).length === 1
    return name && isClear ? shownName(name) : nameWithId(name && shownName(name), id)
  }
  return (some) =>
    grouped(some, ({ account }) => [account?.id ?? ''])
      .map(([id, those]) => {
        const labels = those.map(label).join(', ')
        return id === '' ? labels : `${labels} (in ${accountLabel(id)})`
      })
      .join('; ')
}

/** What can become of one of many things that are to be updated, the worst first. */
export const updateOutcomes = [
  'failed',
  'unknown',
  'not_tried',
  'updated',
  'would_change',
  'unchanged',
] as const
export type UpdateOutcome = (typeof updateOutcomes)[number]

export const updateWarnings = z.array(z.string()).describe('What may be a mistake.')

/** What a result says of each of many things that were to be updated. */
export const updateOutcomeShape = {
  outcome: z.enum(updateOutcomes).describe('unknown: sent, and not known whether it was saved.'),
  changes: fieldChanges.optional(),
  warnings: updateWarnings.optional(),
}

/** The outcome of an update that the platform has taken, or that was not to be saved. */
export function updateOutcome({
  applied,
  changes,
}: {
  readonly applied: boolean
  readonly changes: readonly unknown[]
}): 'updated' | 'would_change' | 'unchanged' {
  if (applied) return 'updated'
  return changes.length > 0 ? 'would_change' : 'unchanged'
}
