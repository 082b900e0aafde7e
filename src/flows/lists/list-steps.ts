import * as z from 'zod'
import type { RouteRequest } from '../../contract/route.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import { fieldsOption } from '../../views/fields.ts'
import {
  itemId,
  type ListColumns,
  type ListItem,
  type ListReply,
  type ListRoute,
  type ListView,
  listView,
} from '../../views/list.ts'
import type { ToolOutput } from '../../views/tool-output.ts'
import type { MergeOrder } from './merged-list.ts'
import { severalAccountsShape, whyNoSubaccounts } from './several-accounts.ts'
import { readSubaccountList } from './subaccount-list.ts'

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

/** Arguments of a list that can be of an account and its subaccounts. */
export const treeOptions = {
  ...fieldsOption,
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: those of all its subaccounts too, in one list with the account of each.'),
}

/** The same for a list of one account that can be that of its subaccounts too, in this order. */
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

/** One page of one account; `noteOf` says more about its items. */
export async function onePage(
  route: ListRoute,
  { page, repeatedPage }: ListView,
  { request, options, session, signal }: PageRun,
  noteOf: (items: readonly ListItem[]) => string | undefined = () => undefined,
): Promise<ToolOutput> {
  // The client parses replies with the route's own schema, which is that of a page.
  const read = async (wanted: RouteRequest) =>
    (await session.client.call(route, wanted, signal)) as ListReply
  const [reply, first] = await Promise.all([read(request), firstItem(request, read)])
  return isSame(first, reply.items[0])
    ? repeatedPage(reply)
    : page(reply, request, options, noteOf(reply.items))
}

/**
 * The first item of the whole list, if the request is for a later page. Not every version of the
 * reference has `offset` [R]: a platform that ignores it gives the first items on every page.
 */
async function firstItem(
  request: RouteRequest,
  read: (wanted: RouteRequest) => Promise<ListReply>,
): Promise<ListItem | undefined> {
  if (!(Number(request.query.offset) > 0)) return undefined
  const { items } = await read({ ...request, query: { ...request.query, offset: 0, limit: 1 } })
  return items[0]
}

const isSame = (one: ListItem | undefined, other: ListItem | undefined) =>
  one !== undefined && other !== undefined && itemId(one) === itemId(other)
