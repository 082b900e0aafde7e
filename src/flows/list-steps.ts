import type { RouteRequest } from '../contract/route.ts'
import type { Steps } from '../mcp/call/tool.ts'
import { fieldsOption } from '../views/fields.ts'
import { type ListColumns, type ListReply, type ListRoute, listView } from '../views/list.ts'

/** Steps of a list tool: reads one page, and checks that it is not the first page again. */
export function listSteps<R extends ListRoute>(
  route: R,
  columns: ListColumns,
): Steps<R, typeof fieldsOption> {
  const { schema, page, repeatedPage, shortening } = listView(route, columns)
  return {
    options: fieldsOption,
    schema,
    async run({ request, options, session, signal }) {
      // The client parses replies with the route's own schema, which is that of a page.
      const read = async (wanted: RouteRequest) =>
        (await session.client.call(route, wanted, signal)) as ListReply
      const [reply, first] = await Promise.all([read(request), firstItem(request, read)])
      return isSame(first, reply.items[0]) ? repeatedPage(reply) : page(reply, request, options)
    },
    shortening,
  }
}

type Item = ListReply['items'][number]

/**
 * The first item of the whole list, if the request is for a later page. Not every version of the
 * reference has `offset` [R]: a platform that ignores it gives the first items on every page.
 */
async function firstItem(
  request: RouteRequest,
  read: (wanted: RouteRequest) => Promise<ListReply>,
): Promise<Item | undefined> {
  if (!(Number(request.query.offset) > 0)) return undefined
  const { items } = await read({ ...request, query: { ...request.query, offset: 0, limit: 1 } })
  return items[0]
}

const isSame = (one: Item | undefined, other: Item | undefined) =>
  one !== undefined && other !== undefined && idOf(one) === idOf(other)

const idOf = (item: Item) => item.id ?? item.conversation_id ?? JSON.stringify(item)
