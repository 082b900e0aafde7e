import { canonicalId } from '../text/canonical-id.ts'
import { closestItems, itemLabel } from '../text/closest-match.ts'
import { counted } from '../text/labels.ts'
import { forEach, maxItemsPerCall, type SelectedItem } from './bulk.ts'
import {
  type AccountLists,
  type AccountListsRun,
  accountLabel,
  badTreeArgument,
  type Matching,
  type Owned,
  type OwnedItems,
  treeArgument,
  unreadAccounts,
  withLists,
} from './lists/complete-account-lists.ts'
import type { FailedAccounts } from './lists/several-accounts.ts'
import { kindsByArgument, type NamingArgument, type ReferenceKind } from './references/kinds.ts'
import { hasName, idMeant, idsMeant, type NamedObject } from './references/names-to-ids.ts'
import { badArgument } from './refused.ts'

/*
 * Selects the items that a tool call changes: by id or name, by common properties (`where`), or all
 * of them.
 */

/** Several items to change. A list with one item is a bulk operation as well. */
export interface ItemSelection {
  /** Distinct items. */
  readonly items: readonly SelectedItem[]
  /** References that were given more than once. */
  readonly repeated: readonly string[]
  /** The argument that named the items. */
  readonly argument: string
  /** True if a filter selected the items, or `*`. */
  readonly isByFilter: boolean
  /** Accounts whose items could not be read. */
  readonly failed: readonly FailedAccounts[]
  /** Sentences about the lists that were searched for the items. */
  readonly notes: readonly string[]
  /** Sentence that says which items the filters leave out. */
  readonly leftOut?: string
}

/** A selection of items that were named one by one. */
export function namedItems(argument: string, items: readonly SelectedItem[]): ItemSelection {
  const keyOf = (item: SelectedItem) =>
    `${canonicalId('id' in item ? item.id : item.given)} ${item.account?.id ?? ''}`
  const each = [...Map.groupBy(items, keyOf).values()]
  const repeated = items.filter((item) => !each.some(([first]) => first === item))
  return {
    items: each.flatMap((same) => same.slice(0, 1)),
    repeated: repeated.map(({ given }) => given),
    ...{ argument, isByFilter: false, failed: [], notes: [] },
  }
}

/**
 * The arguments of a selection. `selectItems` refuses a call unless exactly one of the id, `ids`
 * and `where` is given.
 */
interface SelectionGiven {
  readonly ids: readonly string[] | undefined
  readonly where: Readonly<Record<string, unknown>> | undefined
  readonly isTree: boolean | undefined
  /** The argument that gave the filters, if not `where`. */
  readonly filtersIn?: string
}

interface Selector<T> {
  /** The argument for one item. The argument for many items has the same name with an s. */
  readonly argument: 'agent_id' | 'phone_number_id' | 'sip_trunk_id'
  /** Finds the items that match the filters; without filters, all items. */
  readonly find: (lists: AccountLists) => Promise<Matching<T>>
  /** True if the tool has no argument `where`. */
  readonly isWithoutWhere?: boolean
  /** Says why the filters match nothing. */
  readonly whyNone?: (found: Matching<T>, lists: AccountLists) => Promise<string>
  /** Reads items that can be named only by id, such as archived agents. */
  readonly readMore?: (lists: AccountLists) => Promise<OwnedItems<T>>
}

/** Stands for every item of the accounts, in place of ids. */
const every = '*'

/** The items that the arguments select. Throws Refused and ApiError. */
export async function selectItems<T extends NamedObject>(
  { ids, where, isTree = false, filtersIn = 'where' }: SelectionGiven,
  { argument: one, ...selector }: Selector<T>,
  run: AccountListsRun,
): Promise<{ readonly oneId: string } | ItemSelection> {
  const many = `${one}s`
  const oneId = run.request.params[one]
  const kind: ReferenceKind = kindsByArgument[one]
  const [ways, orMore] = selector.isWithoutWhere
    ? [`${one} and ${many}`, many]
    : [`${one}, ${many} and where`, `${many} or where`]
  if ([oneId, ids, where].filter((given) => given !== undefined).length !== 1)
    throw badArgument(one, `give exactly one of ${ways}`)
  if (oneId !== undefined) {
    if (!isTree) return { oneId }
    throw badTreeArgument(`not with ${one}: give its account_id instead, or several with ${orMore}`)
  }
  if (where && Object.values(where).every((value) => value === undefined || value === false))
    throw badArgument('where', `has no filter; for all give ${many}: ["${every}"]`)
  const isByFilter = ids === undefined || ids.includes(every)
  if (ids && isByFilter && ids.length > 1)
    throw badArgument(many, `give "${every}" alone: it means all`)
  const argument = ids ? many : filtersIn
  if (!isByFilter && !isTree) return selectByIds(one, ids, run)
  if (!run.restricted.mayRead(kind.list))
    throw badArgument(
      isTree ? treeArgument : argument,
      `needs ${kind.listTool}, which this server does not offer`,
    )
  // Reads get half of the time, and changes the other half.
  return withLists(run, { isTree, share: 0.5 }, async (lists) => {
    if (!isByFilter) return selectInTree(one, ids, selector, lists)
    const { owned, isAll, failed, notes } = await selector.find(lists)
    if (owned.length === 0) {
      const why =
        (await selector.whyNone?.({ owned, isAll, failed, notes, drift: [] }, lists)) ?? ''
      const searched = isTree ? ' (looked in the account and its subaccounts)' : ''
      const found = [why || `none of the ${kind.plural} match${searched}`, ...notes]
      throw badArgument(argument, [...found, unreadAccounts(failed)].filter(Boolean).join('; '))
    }
    if (!isAll || owned.length > maxItemsPerCall)
      throw badArgument(
        argument,
        `${isAll ? '' : 'more than '}${counted(owned.length, 'item')} match, and one call takes ${maxItemsPerCall}: list them with ${kind.listTool}, then give ${many} in parts`,
      )
    const items = owned.map((found) => selectedItem(found))
    return { items, repeated: [], argument, isByFilter, failed, notes }
  })
}

/**
 * A list's item as a selected item. `given`: the caller's reference; by default, the item's name.
 */
export const selectedItem = <T extends NamedObject>(
  { item, account }: Owned<T>,
  given = labelOf(item),
): SelectedItem => ({
  ...{ given, id: item.id },
  ...(account && { account }),
})

const labelOf = ({ id, name, number }: NamedObject): string => number || name || id

async function selectByIds(
  argument: NamingArgument,
  given: readonly string[],
  run: AccountListsRun,
): Promise<ItemSelection> {
  const lookup = { params: run.request.params, session: run.restricted, signal: run.signal }
  const kind: ReferenceKind = kindsByArgument[argument]
  // If the platform filters by name, each name is looked up singly. Otherwise one list serves all
  // names.
  const meant = kind.filter
    ? (
        await forEach(given, (one) => idMeant(argument, one, lookup), {
          ...run,
          progress: () => {},
        })
      ).map((outcome) => (outcome.state === 'done' ? outcome.value : { problem: outcome.problem }))
    : await idsMeant(argument, given, lookup)
  const items = meant.map((one, i) => ({ given: given[i] ?? '', ...one }))
  return namedItems(`${argument}s`, items)
}

/**
 * Finds items of the account and its subaccounts by id or exact name. A name counts as unambiguous
 * only if all accounts were read.
 */
async function selectInTree<T extends NamedObject>(
  argument: NamingArgument,
  given: readonly string[],
  { readMore }: Pick<Selector<T>, 'readMore'>,
  lists: AccountLists,
): Promise<ItemSelection> {
  const kind: ReferenceKind = kindsByArgument[argument]
  const named = await lists.read<T>(kind.list)
  const isKnown = (one: string) =>
    named.owned.some(({ item }) => hasId(item, one) || hasName(item, one, kind))
  const more = readMore && !given.every(isKnown) ? await readMore(lists) : undefined
  const failed = more?.failed.length ? more.failed : named.failed
  const isComplete = named.failed.length === 0 && named.isAll
  const whole = { failed, isAll: named.isAll && (more?.isAll ?? true) }
  const items = given.map((one): SelectedItem => {
    const byId = [...named.owned, ...(more?.owned ?? [])].find(({ item }) => hasId(item, one))
    if (byId) return selectedItem(byId, one)
    const [first, ...others] = named.owned.filter(({ item }) => hasName(item, one, kind))
    if (!first) return { given: one, problem: noneMeant(one, kind, named.owned, whole) }
    if (others.length > 0)
      return { given: one, problem: severalMeant(one, kind, [first, ...others]) }
    if (!isComplete) return { given: one, problem: notCertain(one, kind, first, whole) }
    return selectedItem(first, one)
  })
  return { ...namedItems(`${argument}s`, items), failed }
}

const hasId = ({ id }: NamedObject, given: string) => canonicalId(id) === canonicalId(given)

type Incomplete = Pick<OwnedItems<unknown>, 'failed' | 'isAll'>

const whyIncomplete = ({ failed }: Incomplete, { plural }: ReferenceKind) =>
  unreadAccounts(failed) || `as far as they were read: an account has too many ${plural}`

function noneMeant(
  given: string,
  kind: ReferenceKind,
  owned: readonly Owned<NamedObject>[],
  read: Incomplete,
): string {
  const isWhole = read.failed.length === 0 && read.isAll
  const limits = isWhole ? '' : `, ${whyIncomplete(read, kind)}`
  const known = owned.map(({ item }) => ({
    id: item.id,
    names: kind.names.map((name) => item[name]),
  }))
  const meant = closestItems(given, known).map(itemLabel).join(' or ')
  return `none of the ${kind.plural} of the account and its subaccounts has the id or name ${given}${limits}.${meant && ` Did you mean ${meant}?`}`
}

const severalMeant = (
  given: string,
  { plural }: ReferenceKind,
  found: readonly Owned<NamedObject>[],
) =>
  `${found.length} ${plural} are called "${given}"; give the id: ${found
    .slice(0, 5)
    .map(({ item, account }) => `${item.id}${account ? ` (in ${accountLabel(account)})` : ''}`)
    .join(', ')}`

const notCertain = (
  given: string,
  kind: ReferenceKind,
  { item }: Owned<NamedObject>,
  read: Incomplete,
) =>
  `it is not certain that only one of the ${kind.plural} is called "${given}", ${whyIncomplete(read, kind)}; give the id: ${item.id}`
