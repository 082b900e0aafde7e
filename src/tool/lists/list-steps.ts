import * as z from 'zod'
import type { RouteRequest } from '../../contract/route.ts'
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
} from './list-view.ts'
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

/** List steps for an account, optionally with its subaccounts in this order. */
export function treeListSteps<R extends ListRoute>(
  route: R,
  columns: ListColumns & { readonly order: MergeOrder },
): Steps<R, typeof treeOptions> {
  const view = listView(route, columns)
  const treeView = listView(route, { ...columns, added: severalAccountsShape })
  return {
    options: treeOptions,
    schema: treeView.schema,
    hasTimeLimit: true,
    async run(run) {
      if (!run.options.include_subaccounts) return onePage(route, view, run)
      const note = whyNoSubaccounts(run.restricted)
      if (note) return onePage(route, view, run, () => note)
      const list = await readSubaccountList(route, run, columns.order)
      return treeView.collected(list, run.request, run.options)
    },
    shortening: view.shortening,
  }
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
