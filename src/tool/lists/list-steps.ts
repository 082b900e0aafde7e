import * as z from 'zod'
import type { RouteRequest } from '../../contract/route.ts'
import { type AccountLists, type Matching, type SelectionRun, withLists } from '../selection.ts'
import type { Run, Steps, ToolOutput } from '../tool.ts'
import {
  type CollectedItems,
  fieldsOption,
  itemId,
  type ListColumns,
  type ListItem,
  type ListReply,
  type ListRoute,
  type ListView,
  listView,
} from './list-fields.ts'
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

/** Steps of a list tool: reads one page, and checks that it is not the first page again. */
export function listSteps<R extends ListRoute>(
  route: R,
  columns: ListColumns,
): Steps<R, typeof fieldsOption> {
  const view = listView(route, columns)
  return {
    options: fieldsOption,
    schema: view.schema,
    run: (run) => onePage(route, view, run),
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

/** Filters of a list that the platform does not have. */
interface OwnFilters<F extends z.ZodRawShape> {
  readonly options: F
  /** Finds what matches them and the platform's filters in `query`. Throws Refused and ApiError. */
  readonly find: (
    given: z.output<z.ZodObject<F>>,
    lists: AccountLists,
    query: object,
  ) => Promise<Matching<ListItem>>
}

/** List steps for an account, optionally with its subaccounts in this order. */
export function treeListSteps<R extends ListRoute, F extends z.ZodRawShape = Record<never, never>>(
  route: R,
  columns: ListColumns & { readonly order: MergeOrder; readonly filters?: OwnFilters<F> },
): Steps<R, typeof treeOptions & F> {
  const view = listView(route, columns)
  const treeView = listView(route, { ...columns, added: severalAccountsShape })
  const { filters } = columns
  return {
    // Without filters, F has no fields.
    options: { ...treeOptions, ...filters?.options } as typeof treeOptions & F,
    schema: treeView.schema,
    hasTimeLimit: true,
    async run(run) {
      const options = TreeOptions.parse(run.options)
      const own = filters && z.object(filters.options).parse(run.options)
      const isTree = options.include_subaccounts === true
      const note = isTree ? whyNoSubaccounts(run.restricted) : undefined
      const spansTree = isTree && note === undefined
      if (own && Object.values(own).some(isFilter)) {
        const find: Find = (lists, query) => filters.find(own, lists, query)
        const list = await filteredPage(find, run, spansTree)
        const notes = [note, list.note].filter(Boolean).join(' ')
        const shown = spansTree ? treeView : view
        return shown.collected({ ...list, note: notes }, run.request, options)
      }
      if (!spansTree) return onePage(route, view, { ...run, options }, () => note)
      const list = await readSubaccountList(route, run, columns.order)
      return treeView.collected(list, run.request, options)
    },
    shortening: view.shortening,
  }
}

const TreeOptions = z.object(treeOptions)

/** False means "not given": some models fill in every boolean. */
const isFilter = (value: unknown) => value !== undefined && value !== false

type Find = (lists: AccountLists, query: object) => Promise<Matching<ListItem>>

/** A page of the items that own filters match: all are read, then cut to the page. */
function filteredPage(find: Find, run: SelectionRun, isTree: boolean): Promise<CollectedItems> {
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

type PageRun = Pick<
  Run<ListRoute, typeof fieldsOption>,
  'request' | 'options' | 'session' | 'signal'
>

/**
 * Reads one page of one account. `noteOf` returns a note about its items. Compares later pages with
 * the first: not every version of the reference has `offset` [R], and a platform that ignores it
 * returns the first items on every page.
 */
export async function onePage(
  route: ListRoute,
  { page, repeatedPage }: ListView,
  { request, options, session, signal }: PageRun,
  noteOf?: (items: readonly ListItem[]) => string | undefined,
): Promise<ToolOutput> {
  // The client has parsed the reply with the route's schema, which is a page.
  const read = async (query: RouteRequest['query']) =>
    (await session.client.call(route, { ...request, query }, signal)) as ListReply
  const { query } = request
  const isLater = Number(query.offset) > 0
  const [reply, start] = await Promise.all([
    read(query),
    isLater ? read({ ...query, offset: 0, limit: 1 }) : undefined,
  ])
  const [one, first] = [reply.items[0], start?.items[0]]
  const isRepeated = one !== undefined && first !== undefined && itemId(one) === itemId(first)
  return isRepeated ? repeatedPage(reply) : page(reply, request, options, noteOf?.(reply.items))
}

/**
 * A page of the merged lists of an account and its subaccounts. Names unread accounts, including
 * those that timed out. Throws ApiError if none could be read, or the caller cancelled.
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
