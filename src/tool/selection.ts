import { mapConcurrently } from '../platform/concurrency.ts'
import { driftOf } from '../platform/drift.ts'
import { ApiError } from '../platform/failure.ts'
import { accountIn } from '../platform/sessions/account.ts'
import {
  type AccountInTree,
  accountConcurrency,
  readAccountTree,
  readAllItems,
} from '../platform/sessions/complete-lists.ts'
import { requestMs, withTimeLimit } from '../platform/time-limit.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { closestItems, itemLabel, nameWithId } from '../text/closest-match.ts'
import { counted, shownName } from '../text/dialog-text.ts'
import { forEach, maxItems, type SelectedItem } from './bulk.ts'
import type { ListRoute } from './lists/list-fields.ts'
import {
  type FailedAccounts,
  failedAccounts,
  maxAccounts,
  rootAccount,
  whyNoSubaccounts,
} from './lists/several-accounts.ts'
import { kindsByArgument, type NamingArgument, type ReferenceKind } from './references/kinds.ts'
import { idMeant, idsMeant, isCalled, type NamedObject } from './references/names-to-ids.ts'
import { badArgument, type Refused } from './refused.ts'
import type { Run } from './tool.ts'

/*
 * Selects items by common properties, for updates (`where`) and lists. Reads the lists of an
 * account, or of the account and its subaccounts, completely. Applies here the filters that the
 * platform does not support.
 */

export type SelectionRun = Pick<Run, 'request' | 'restricted' | 'session' | 'signal' | 'answerBy'>

/** An item, and its account if several accounts are read. */
export interface Owned<T> {
  readonly item: T
  readonly account?: AccountInTree
}

export interface OwnedItems<T> {
  readonly owned: readonly Owned<T>[]
  /** Paths that the platform shows in an undocumented form, such as `items.*.tags`. */
  readonly drift: readonly string[]
  /** Accounts that could not be read. `owned` has the items of all others. */
  readonly failed: readonly FailedAccounts[]
  /** False: an account has more items than were read. */
  readonly isAll: boolean
}

/** The items that match. `notes`: what was looked at to find them, as sentences. */
export interface Matching<T> extends OwnedItems<T> {
  readonly notes: readonly string[]
}

/** Access to the lists of one account, or of the account and its subaccounts. */
export interface AccountLists {
  /**
   * Reads a list of objects with ids, at most 2,000 per account. `T` is the type in the route's
   * reply. Throws ApiError if no account could be read.
   */
  readonly read: <T extends { readonly id: string }>(
    route: ListRoute,
    filters?: object,
  ) => Promise<OwnedItems<T>>
  /** The run of the tool call. Its signal also fires when the time for reads is up. */
  readonly run: SelectionRun
}

interface ListsOptions {
  readonly isTree: boolean
  /** Share of the remaining time that reads may take. The rest is for changes. */
  readonly share: number
}

/**
 * Calls `work` with the lists of the accounts that the tool call spans. Throws Refused and
 * ApiError.
 */
export function withLists<T>(
  run: SelectionRun,
  { isTree, share }: ListsOptions,
  work: (lists: AccountLists) => Promise<T>,
): Promise<T> {
  const { request, restricted } = run
  const why = isTree ? whyNoSubaccounts(restricted) : undefined
  if (why) throw badTree(`nothing was changed. ${why} Call again without it`)
  const msLeft = Math.min((run.answerBy - performance.now()) * share, requestMs)
  return withTimeLimit(msLeft, run.signal, async (signal) => {
    const tree = isTree ? await wholeTree(run, signal) : undefined
    const readOne = async <I extends { readonly id: string }>(
      route: ListRoute,
      account_id: string,
      filters: object,
    ) => {
      const drift: string[] = []
      const list = await readAllItems<I>(async (page) => {
        const asked = { params: { account_id }, query: { ...filters, ...page } }
        const reply = await restricted.client.call(route, asked, signal)
        drift.push(...driftOf(reply).map(({ path }) => path))
        // The client has parsed the reply with the route's schema.
        return reply as { items: I[]; count?: number }
      })
      return { ...list, drift }
    }
    return work({
      run: { ...run, signal },
      async read<I extends { readonly id: string }>(route: ListRoute, filters = {}) {
        if (!tree) {
          const { items, isAll, drift } = await readOne<I>(route, accountIn(request), filters)
          return { owned: items.map((item) => ({ item })), failed: [], isAll, drift }
        }
        const branches = await mapConcurrently(tree.accounts, accountConcurrency, (account) =>
          readOne<I>(route, account.id, filters).then(
            (read) => ({ account, hasRead: true, ...read }),
            (error: unknown) => {
              if (!(error instanceof ApiError)) throw error
              return { account, hasRead: false, items: [], isAll: true, drift: [], error }
            },
          ),
        )
        return {
          owned: branches.flatMap(({ account, items }) => items.map((item) => ({ item, account }))),
          failed: failedAccounts(branches, tree, run),
          isAll: branches.every(({ isAll }) => isAll),
          drift: branches.flatMap(({ drift }) => drift),
        }
      },
    })
  })
}

async function wholeTree({ request, restricted: session }: SelectionRun, signal: AbortSignal) {
  const root = await rootAccount(request, session, signal)
  const tree = await readAccountTree(root, { session, signal, max: maxAccounts })
  if (!tree.hasMore) return tree
  throw badTree(
    `there are more than ${maxAccounts} accounts: give account_id, one branch at a time`,
  )
}

const badTree = (message: string): Refused => badArgument(treeArgument, message)

const treeArgument = 'include_subaccounts'

const accountLabel = ({ id, name }: AccountInTree) =>
  id === 'me' ? "the key's own account" : nameWithId(name && shownName(name), id)

/** Maximum number of accounts named with a reason. */
const maxNamed = 5

/** Accounts that could not be read, in words: `not read: Hamburg branch (1b9d…): HTTP 500`. */
export const failedInWords = (failed: readonly FailedAccounts[]): string =>
  failed
    .map(({ reason, accounts }) => {
      const more = accounts.length > maxNamed ? ` and ${accounts.length - maxNamed} more` : ''
      return `not read: ${accounts.slice(0, maxNamed).map(accountLabel).join(', ')}${more}: ${reason}`
    })
    .join('; ')

/** Names the accounts that could not be read; empty if all could. */
const unreadAccounts = (failed: readonly FailedAccounts[]): string =>
  failed.length > 0 ? `as far as they could be read (${failedInWords(failed)})` : ''

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
  /** What the filters leave out, as a sentence. */
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

/** The arguments of a selection. Exactly one of an id, `ids` and `where` is given. */
interface SelectionGiven {
  readonly ids: readonly string[] | undefined
  readonly where: Readonly<Record<string, unknown>> | undefined
  readonly isTree: boolean | undefined
  /** The argument that gave the filters, if not `where`. */
  readonly filtersIn?: string
}

interface Selector<T> {
  /** The argument for one item. The argument for many items adds an s. */
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
  run: SelectionRun,
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
    throw badTree(`not with ${one}: give its account_id instead, or several with ${orMore}`)
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
    if (!isAll || owned.length > maxItems)
      throw badArgument(
        argument,
        `${isAll ? '' : 'more than '}${counted(owned.length, 'item')} match, and one call takes ${maxItems}: list them with ${kind.listTool}, then give ${many} in parts`,
      )
    const items = owned.map((found) => selected(found, labelOf(found.item)))
    return { items, repeated: [], argument, isByFilter, failed, notes }
  })
}

const selected = <T extends NamedObject>(
  { item, account }: Owned<T>,
  given: string,
): SelectedItem => ({
  ...{ given, id: item.id },
  ...(account && { account }),
})

const labelOf = ({ id, name, number }: NamedObject): string => number || name || id

async function selectByIds(
  argument: NamingArgument,
  given: readonly string[],
  run: SelectionRun,
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
    named.owned.some(({ item }) => hasId(item, one) || isCalled(item, one, kind))
  const more = readMore && !given.every(isKnown) ? await readMore(lists) : undefined
  const failed = more?.failed.length ? more.failed : named.failed
  const isComplete = named.failed.length === 0 && named.isAll
  const whole = { failed, isAll: named.isAll && (more?.isAll ?? true) }
  const items = given.map((one): SelectedItem => {
    const byId = [...named.owned, ...(more?.owned ?? [])].find(({ item }) => hasId(item, one))
    if (byId) return selected(byId, one)
    const [first, ...others] = named.owned.filter(({ item }) => isCalled(item, one, kind))
    if (!first) return { given: one, problem: noneMeant(one, kind, named.owned, whole) }
    if (others.length > 0)
      return { given: one, problem: severalMeant(one, kind, [first, ...others]) }
    if (!isComplete) return { given: one, problem: notCertain(one, kind, first, whole) }
    return selected(first, one)
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
