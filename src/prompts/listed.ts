import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import type { RestrictedSession } from '../session/restricted-session.ts'

const Page = z.object({
  count: z.int().optional(),
  items: z.array(z.record(z.string(), z.unknown())),
})

/** Read of one list, so that whoever types does not page through a whole account. */
const perPage = 100
const mostPages = 5

export interface Listed {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly isPart: boolean
}

/** Everything of a list, as far as one reads for a completion, out of memory. */
export async function listed(
  route: Route,
  { session: { cache }, account }: { session: RestrictedSession; account: string },
  pages = mostPages,
): Promise<Listed> {
  const pageAt = async (offset: number) => {
    const request = { params: { account_id: account }, query: { limit: perPage, offset } }
    return Page.parse(await cache.read(route, request, 'names'))
  }
  const first = await pageAt(0)
  const total = first.count ?? first.items.length
  const offsets = Array.from({ length: pages - 1 }, (_, index) => (index + 1) * perPage)
  const rest = await Promise.all(offsets.filter((offset) => offset < total).map(pageAt))
  const items = [first, ...rest].flatMap((page) => page.items)
  return { items, isPart: items.length < total }
}
