import * as z from 'zod'
import { mapAtOnce } from '../../api/map-at-once.ts'
import { withTimeLimit } from '../../api/time-limit.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { accountIn } from '../../session/account.ts'
import { accountsAtOnce, readAccountTree } from '../../session/account-tree.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import { ignoreRefusal } from './did-you-mean.ts'

/** The lists whose tools take `include_subaccounts`. */
const lists: ReadonlySet<string> = new Set(
  [routes.agents.list, routes.phoneNumbers.list, routes.sipTrunks.list, routes.calls.list].map(
    ({ id }) => id,
  ),
)

/** How many accounts are looked into, and how long an empty list waits for that, ms. */
const mostAccounts = 20
const patienceMs = 2000

const Page = z.looseObject({ count: z.int().optional(), items: z.array(z.unknown()) })

/**
 * After an empty list of one account: how many match in its subaccounts. `undefined` where none do,
 * where that cannot be read in time, or where subaccounts may not be read.
 */
export async function matchesBelow(
  route: Route,
  { params, query }: RouteRequest,
  session: RestrictedSession,
): Promise<string | undefined> {
  const mayRead =
    session.pinnedAccount === undefined && session.mayRead(routes.accounts.listSubaccounts)
  if (!lists.has(route.id) || !mayRead || Number(query.offset ?? 0) > 0) return undefined
  const root = accountIn({ params })
  const counts = await withTimeLimit(patienceMs, undefined, async (signal) => {
    const tree = await readAccountTree({ id: root }, { session, signal, most: mostAccounts })
    return mapAtOnce(tree.accounts.slice(1), accountsAtOnce, async ({ id: account_id }) => {
      const asked = { params: { account_id }, query: { ...query, limit: 1, offset: 0 } }
      const page = await session.client.call(route, asked, signal).catch(ignoreRefusal)
      const { count, items } = Page.parse(page ?? { items: [] })
      return count ?? items.length
    })
  }).catch(ignoreRefusal)
  const sum = (counts ?? []).reduce((total, count) => total + count, 0)
  return sum === 0
    ? undefined
    : `Its subaccounts have at least ${sum}: include_subaccounts true lists them.`
}
