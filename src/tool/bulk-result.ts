import * as z from 'zod'
import { nameWithId } from '../text/closest-match.ts'
import { counted, shownName } from '../text/dialog-text.ts'
import type { Outcome } from './bulk.ts'
import { type FieldChange, fieldChanges } from './field-changes.ts'

/** Fields of the result of every bulk operation. */
export const outcomeShape = {
  result: { summary: z.record(z.string(), z.int()).describe('Count by outcome.') },
  item: { problem: z.string().optional().describe('Why it was not done.') },
}

/** Result for one item of a bulk operation. */
interface ShownItem {
  readonly name?: string | undefined
  readonly outcome: string
  readonly problem?: string | undefined
  /** Account of the item, if items may be of several accounts. */
  readonly account?: { readonly id: string; readonly name?: string | undefined } | undefined
}

/** `3 failed, 12 updated`, and the same as numbers; `order` has the outcomes, the worst first. */
export function countsOf(
  items: readonly ShownItem[],
  order: readonly string[],
  noun: string,
): { readonly summary: Record<string, number>; readonly text: string } {
  const counts = order.map(
    (name) => [name, items.filter(({ outcome }) => outcome === name).length] as const,
  )
  const some = counts.filter(([, count]) => count > 0)
  return {
    summary: Object.fromEntries(some),
    text: `${counted(items.length, noun)}: ${some.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ')}.`,
  }
}

/** Failed and untried items with the reason. A shared reason appears once. */
export function notDoneInWords<T extends ShownItem>(
  items: readonly T[],
  named: Names<T>,
): string[] {
  const of = (name: string, words: string) =>
    grouped(
      items.filter(({ outcome }) => outcome === name),
      ({ problem = '' }) => [problem],
    ).map(([problem, some]) => `${words}: ${named(some)}: ${problem}`)
  const open = [...of('unknown', 'Not known whether it was done'), ...of('not_tried', 'Not tried')]
  return [...of('failed', 'Failed'), ...open, ...(open.length > 0 ? [again] : [])]
}

/** Lines that name repeated items, which were done once. */
export const repeatedLines = (repeated: readonly string[]): string[] =>
  repeated.length > 0 ? [`Given more than once: ${repeated.map(shownName).join(', ')}.`] : []

const again =
  'Call again with the same arguments: what is done already stays as it is, and counts as unchanged.'

/** Items by their texts: those with the same text are one group. */
export function grouped<T>(
  items: readonly T[],
  textsOf: (item: T) => readonly string[],
): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    for (const text of textsOf(item)) {
      const group = groups.get(text)
      if (group) group.push(item)
      else groups.set(text, [item])
    }
  }
  return [...groups]
}

/** The names of some items. */
export type Names<T> = (some: readonly T[]) => string

/**
 * Names items by name alone if unambiguous. Items of several accounts are grouped: `Front desk,
 * Sales (in Hamburg branch)`.
 */
export function namesOf<T extends ShownItem>(
  all: readonly T[],
  idOf: (item: T) => string | undefined,
): Names<T> {
  const nameIn = ({ name, account }: T) => JSON.stringify([name, account?.id])
  const names = all.map(nameIn)
  const label = (item: T) => {
    const { name } = item
    const id = idOf(item)
    const own = nameIn(item)
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

/** Outcomes of one of many items to update, the worst first. */
export const updateOutcomes = [
  'failed',
  'unknown',
  'not_tried',
  'updated',
  'would_change',
  'unchanged',
] as const

export const updateWarnings = z.array(z.string()).describe('What may be a mistake.')

/** The result for one of many items to update. */
export const updateOutcomeShape = {
  outcome: z.enum(updateOutcomes).describe('unknown: sent, and not known whether it was saved.'),
  changes: fieldChanges.optional(),
  warnings: updateWarnings.optional(),
}

const UpdateOutcome = z.object({ ...updateOutcomeShape, ...outcomeShape.item })
type UpdateOutcome = z.output<typeof UpdateOutcome>

/** Effect of an update on one item, real or in a dry run. */
export interface UpdateReport {
  /** False: nothing was saved. */
  readonly applied: boolean
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
  /** True if the platform accepted the request but ignored changes, which warnings name. */
  readonly isIgnored: boolean
  /** It takes a change back; warnings name what stays as it is. */
  readonly isUndo?: boolean
}

/** First line of the result for one item. `notChanged`: ignored changes. */
export function updateHead(
  { applied, changes, warnings, isIgnored, isUndo }: UpdateReport,
  named: string,
  notChanged: string,
): string {
  if (applied) return `Updated ${named}`
  if (changes.length > 0) return `Dry run, nothing saved: ${named} would change`
  if (isUndo && warnings.length > 0) return `Nothing taken back: ${named} stays as it is`
  return isIgnored
    ? `Nothing changed: the platform did not ${notChanged} ${named}`
    : `Nothing to change: ${named} has these values already`
}

/** Effect of an update on one of many items, as fields. */
export function updateOutcome(outcome: Outcome<UpdateReport>): UpdateOutcome {
  if (outcome.state !== 'done') return { outcome: outcome.state, problem: outcome.problem }
  const { applied, changes, warnings, isIgnored } = outcome.value
  const isUnchanged = !applied && changes.length === 0
  if (isUnchanged && isIgnored) return { outcome: 'failed', problem: warnings.join('; ') }
  const done = applied ? 'updated' : 'would_change'
  return {
    outcome: isUnchanged ? 'unchanged' : done,
    ...(changes.length > 0 && { changes: [...changes] }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  }
}

/** Lines for many items: failures, `details` of changes, and unchanged items. */
export function updateLines<T extends ShownItem>(
  items: readonly T[],
  named: Names<T>,
  details: readonly string[],
): string[] {
  const unchanged = items.filter(({ outcome }) => outcome === 'unchanged')
  return [
    ...notDoneInWords(items, named),
    ...details,
    ...(unchanged.length > 0 ? [`Unchanged: ${named(unchanged)}`] : []),
  ]
}
