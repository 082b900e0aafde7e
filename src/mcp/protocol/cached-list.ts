import * as z from 'zod'
import type { Route } from '../../contract/route.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'

const Page = z.object({
  count: z.int().optional(),
  items: z.array(z.record(z.string(), z.unknown())),
})

/** Items on one page, and most pages that are read for a completion. */
const perPage = 100
const mostPages = 5

export interface CachedList {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  /** True: there are more than were read. */
  readonly isPart: boolean
}

/**
 * The first pages of a list. Replies are used again for a while, so that typing one more character
 * costs no request. Throws ApiError.
 */
export async function readCachedList(
  route: Route,
  {
    session: { cache },
    account,
  }: { readonly session: RestrictedSession; readonly account: string },
  { pages = mostPages }: { readonly pages?: number } = {},
): Promise<CachedList> {
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
