import * as z from 'zod'
import { type DialogText, shownName } from '../text/dialog-text.ts'
import { counted, nameWithId } from '../text/labels.ts'
import type { ItemSelection } from './item-selection.ts'
import { failedInWords } from './lists/complete-account-lists.ts'
import { accountOnce } from './lists/list-result.ts'
import { severalAccountsShape } from './lists/several-accounts.ts'
import type { OutputWithLines } from './tool.ts'

/** Fields that the result of every bulk operation has besides its list. */
export const bulkResultShape = {
  summary: z.record(z.string(), z.int()).describe('Count by outcome.'),
  ...severalAccountsShape.result,
}

/** Fields that every item of a bulk result has besides id and outcome. */
export const shownItemShape = {
  name: z.string().optional().describe('Its name, or how it was given.'),
  account: severalAccountsShape.item.account.optional(),
  problem: z.string().optional().describe('Why it was not done.'),
}

/** Result for one item of a bulk operation. */
export interface ShownItem {
  readonly id?: string | undefined
  readonly name: string
  /** Name of the item in the result's text, if not `name`. */
  readonly label?: DialogText | undefined
  readonly outcome: string
  readonly problem?: string | undefined
  /** Account of the item, if the operation may span several accounts. */
  readonly account?: { readonly id: string; readonly name?: string | undefined } | undefined
}

interface BulkResult<T> {
  /** Name of the field with the item's id. */
  readonly idArgument: string
  /** Word for one item in messages. */
  readonly noun: string
  /** Name of the field with the list. */
  readonly list: string
  /** All outcomes, the worst first. */
  readonly order: readonly string[]
  /** Text before the counts. */
  readonly head?: string
  /**
   * Lines about the items. They follow the lines about unread accounts and repeated references, and
   * precede the selection's notes.
   */
  readonly lines: (named: Names<T>) => readonly string[]
  /** Replaces the items in the result's list. */
  readonly listed?: (items: readonly T[]) => readonly T[]
}

/**
 * The result of a bulk operation: the counts, then the items in the order in which they were given.
 */
export function bulkResult<T extends ShownItem>(
  items: readonly T[],
  { failed, repeated, notes, leftOut }: ItemSelection,
  { idArgument, noun, list, order, head = '', lines, listed = (all) => all }: BulkResult<T>,
): OutputWithLines {
  const counts = countsOf(
    order,
    items.map(({ outcome }) => outcome),
  )
  const inWords = counts.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
  const shown = accountOnce(
    listed(items).map(({ id, label: _, account, ...item }) => ({
      ...(id && { [idArgument]: id }),
      ...item,
      ...(account && { account: { ...account } }),
    })),
  )
  return {
    structured: {
      summary: Object.fromEntries(counts),
      ...(failed.length > 0 && { failed_accounts: [...failed] }),
      ...shown.shared,
      [list]: shown.items,
    },
    lines: [
      `${head}${counted(items.length, noun)}: ${inWords.join(', ')}.`,
      ...(failed.length > 0
        ? [`NOT COMPLETE: ${failedInWords(failed)}. Call again for those.`]
        : []),
      ...(repeated.length > 0
        ? [`Given more than once: ${repeated.map(shownName).join(', ')}.`]
        : []),
      ...lines(namesOf(items)),
      ...notes,
      ...(leftOut ? [leftOut] : []),
    ],
  }
}

/** Counts per value, in the order of `order`, without zeros. */
export const countsOf = <T extends string>(
  order: readonly T[],
  values: readonly (T | undefined)[],
): [T, number][] =>
  order.flatMap((value): [T, number][] => {
    const count = values.filter((one) => one === value).length
    return count === 0 ? [] : [[value, count]]
  })

/** Failed and untried items, with the reason. Items with the same reason share a line. */
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

const again =
  'Call again with the same arguments: what is done already stays as it is, and counts as unchanged.'

/** Groups items by text. An item may have several texts, and is in the group of each. */
export function grouped<T>(
  items: readonly T[],
  textsOf: (item: T) => readonly string[],
): [string, T[]][] {
  const pairs = items.flatMap((item) => textsOf(item).map((text) => ({ text, item })))
  const groups = Map.groupBy(pairs, ({ text }) => text)
  return [...groups].map(([text, group]) => [text, group.map(({ item }) => item)])
}

/** Returns the names of the given items as one text. */
export type Names<T> = (some: readonly T[]) => string

/**
 * Names items by name alone where the name is unique. Groups items of several accounts: `Front
 * desk, Sales (in Hamburg branch)`.
 */
function namesOf<T extends ShownItem>(all: readonly T[]): Names<T> {
  const nameIn = ({ name, account }: T) => JSON.stringify([name, account?.id])
  const names = all.map(nameIn)
  const label = (item: T) => {
    const { id } = item
    const own = nameIn(item)
    const isClear = names.indexOf(own) === names.lastIndexOf(own)
    const shown = item.label ?? shownName(item.name)
    return isClear || id === undefined ? shown : nameWithId(shown, id)
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
