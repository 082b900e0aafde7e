import * as z from 'zod'
import type { RouteRequest } from '../../contract/route.ts'
import type { Run, Steps } from '../tool.ts'
import {
  type AccountLists,
  type AccountListsRun,
  type Matching,
  withLists,
} from './complete-account-lists.ts'
import {
  type CollectedItems,
  fieldsOption,
  itemId,
  type ListColumns,
  type ListItem,
  type ListReply,
  type ListRoute,
  listView,
} from './list-result.ts'
import {
  failedAccounts,
  listNotes,
  type MergeOrder,
  mergedItems,
  type OwnedItem,
  severalAccountsShape,
  type TreeRun,
  totalOf,
  whyNoSubaccounts,
  withBranches,
} from './several-accounts.ts'

/**
 * Steps of a list tool: reads one page, and detects a platform that returns the first page again.
 */
export function listSteps<R extends ListRoute>(
  route: R,
  columns: ListColumns,
): Steps<R, typeof fieldsOption> {
  const view = listView(route, columns)
  return {
    options: fieldsOption,
    schema: view.schema,
    run: async (run) => view.page(await readPage(route, run), run.request, run.options),
    shortening: view.shortening,
  }
}

/** Arguments of a list that may span an account and its subaccounts. */
export const treeOptions = {
  ...fieldsOption,
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: those of all its subaccounts too, with the account of each.'),
}

/** Filters that the platform's list does not support. */
interface OwnFilters<F extends z.ZodRawShape> {
  readonly options: F
  /**
   * Finds the items that match these filters and the platform's filters in `query`. Throws Refused
   * and ApiError.
   */
  readonly find: (
    given: z.output<z.ZodObject<F>>,
    lists: AccountLists,
    query: object,
  ) => Promise<Matching<ListItem>>
}

/**
 * Steps of a list tool for one account, or for an account and its subaccounts merged in `order`.
 */
export function treeListSteps<R extends ListRoute, F extends z.ZodRawShape = Record<never, never>>(
  route: R,
  columns: ListColumns & { readonly order: MergeOrder; readonly filters?: OwnFilters<F> },
): Steps<R, typeof treeOptions & F> {
  const view = listView(route, { ...columns, added: severalAccountsShape })
  const { filters } = columns
  return {
    // Without filters, F has no fields.
    options: { ...treeOptions, ...filters?.options } as typeof treeOptions & F,
    schema: view.schema,
    hasTimeLimit: true,
    async run(run) {
      const options = TreeOptions.parse(run.options)
      const own = filters && z.object(filters.options).parse(run.options)
      const isTree = options.include_subaccounts === true
      const note = isTree ? whyNoSubaccounts(run.restricted) : undefined
      const spansTree = isTree && note === undefined
      const find: Find | undefined =
        filters && own && Object.values(own).some(isFilter)
          ? (lists, query) => filters.find(own, lists, query)
          : undefined
      const list = find
        ? await filteredPage(find, run, spansTree)
        : await (spansTree ? readSubaccountList(route, run, columns.order) : readPage(route, run))
      const notes = [note, list.note].filter(Boolean).join(' ')
      return view.page({ ...list, note: notes }, run.request, options)
    },
    shortening: view.shortening,
  }
}

const TreeOptions = z.object(treeOptions)

/** False means "not given": some models fill in every boolean. */
const isFilter = (value: unknown) => value !== undefined && value !== false

type Find = (lists: AccountLists, query: object) => Promise<Matching<ListItem>>

/**
 * A page of the items that match the tool's own filters. Reads all items, then cuts the page out.
 */
function filteredPage(find: Find, run: AccountListsRun, isTree: boolean): Promise<CollectedItems> {
  const { limit, offset, ...query } = run.request.query
  const from = Number(offset ?? 0)
  return withLists(run, { isTree, share: 1 }, async (lists) => {
    const { owned, isAll, failed, notes } = await find(lists, query)
    const page = owned.slice(from, from + Number(limit))
    const end = from + page.length
    const incomplete = [
      failed.length > 0 && 'Not complete: see failed_accounts.',
      !isAll && 'Not complete: an account has more than can be read.',
    ]
    return {
      items: page.map(({ item, account }) => ({ ...item, ...(account && { account }) })),
      total: failed.length === 0 && isAll ? owned.length : null,
      nextOffset: page.length > 0 && end < owned.length ? end : null,
      note: [...notes, ...incomplete].filter(Boolean).join(' '),
      rest: failed.length > 0 ? { failed_accounts: failed } : {},
    }
  })
}

/**
 * Reads one page of one account. Not every version of the reference has `offset` [R], and a
 * platform that ignores it returns the first items on every page. So a later page is compared with
 * the first; if it repeats it, the result has no items, because a caller that adds up pages would
 * count them twice.
 */
export async function readPage(
  route: ListRoute,
  { request, session, signal }: Pick<Run, 'request' | 'session' | 'signal'>,
): Promise<CollectedItems> {
  // The client has parsed the reply with the route's schema, which is a page.
  const read = async (query: RouteRequest['query']) =>
    (await session.client.call(route, { ...request, query }, signal)) as ListReply
  const { query } = request
  const offset = Number(query.offset ?? 0)
  const [{ count, items, ...rest }, start] = await Promise.all([
    read(query),
    offset > 0 ? read({ ...query, offset: 0, limit: 1 }) : undefined,
  ])
  const [one, first] = [items[0], start?.items[0]]
  const total = count ?? null
  if (one && first && itemId(one) === itemId(first)) {
    const filter = 'created_before' in route.query.shape ? ', or narrow with created_before' : ''
    const note = `The platform ignored offset and gave its first items again: they are left out. Ask for more at once with limit${filter}.`
    return { items: [], total, nextOffset: null, note, rest }
  }
  const end = offset + items.length
  const hasMore =
    items.length > 0 && (count === undefined ? items.length >= Number(query.limit) : end < count)
  // `rest` keeps the platform's other fields of the page.
  return { items, total, nextOffset: hasMore ? end : null, rest }
}

/**
 * A page of the merged lists of an account and its subaccounts. Names the accounts that could not
 * be read, including those for which time ran out. Throws ApiError if no account could be read, or
 * if the caller cancelled.
 */
export function readSubaccountList(
  route: ListRoute,
  run: TreeRun,
  order: MergeOrder,
): Promise<CollectedItems> {
  const { limit: given, offset, ...filters } = run.request.query
  const [limit, from] = [Number(given), Number(offset ?? 0)]
  const options = { ...run, of: 'account and subaccounts', filters, perPage: from + limit } as const
  return withBranches(route, options, async (branches, tree) => {
    const { items, hasMore } = await mergedItems(branches, { from, to: from + limit, order })
    const failed = failedAccounts(branches, tree, run)
    return {
      items: items.map(withAccount),
      total: failed.length > 0 || tree.hasMore ? null : totalOf(branches),
      nextOffset: hasMore ? from + items.length : null,
      note: listNotes(branches, tree, { failed, from }),
      rest: failed.length > 0 ? { failed_accounts: failed } : {},
    }
  })
}

export const withAccount = ({ item, account }: OwnedItem): ListItem => ({ ...item, account })
