import { ignoreApiError } from '../../api/failure.ts'
import { mapAtOnce } from '../../api/map-at-once.ts'
import { withTimeLimit } from '../../api/time-limit.ts'
import { routes } from '../../contract/routes.ts'
import { type AccountInTree, accountsAtOnce, readAccountTree } from '../../session/account-tree.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'

/** How many accounts are looked into, and how long an error waits for that, ms. */
const mostAccounts = 20
const patienceMs = 2000

/**
 * For an agent id that an account does not have: another account of this key that has it. `undefined`
 * where none has it, or that cannot be read in time, or may not be read.
 */
export async function accountOfAgent(
  agent_id: string,
  account: string,
  session: RestrictedSession,
): Promise<AccountInTree | undefined> {
  const mayRead =
    session.pinnedAccount === undefined &&
    session.mayRead(routes.accounts.listSubaccounts) &&
    session.mayRead(routes.agents.get)
  if (!mayRead) return undefined
  return withTimeLimit(patienceMs, undefined, async (signal) => {
    const id = await session.ownAccountId()
    const searched = account === 'me' ? id : account
    const { accounts } = await readAccountTree({ id }, { session, signal, most: mostAccounts })
    const others = accounts.filter((one) => one.id !== searched)
    const places = await mapAtOnce(others, accountsAtOnce, async (one) => {
      const asked = { params: { account_id: one.id, agent_id }, query: {} }
      const agent = await session.client
        .call(routes.agents.get, asked, signal)
        .catch(ignoreApiError)
      return agent ? [one] : []
    })
    return places.flat()[0]
  }).catch(ignoreApiError)
}
