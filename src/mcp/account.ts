import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api/failure.ts'
import type { Account } from '../contract/account.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import type { Session } from './session.ts'

/** How long a result waits, at most, for the name of its account, ms. */
const patienceMs = 1000

/**
 * The account a request acts on, for its result to name; `undefined` where there is nothing to
 * name: the operator has pinned the account, or the operation belongs to none. Started beside the
 * request, so that it costs no time, and never a reason to fail.
 */
export async function accountOf(
  route: Route,
  { params }: RouteRequest,
  session: Session,
): Promise<string | undefined> {
  if (session.account !== undefined || !('account_id' in route.params.shape)) return undefined
  const { account_id = 'me' } = params
  return account_id === 'me' ? ownId(session) : account_id
}

/** The key's own account, as it was read within the hour. Throws ApiError. */
export const ownAccount = ({ memory }: Session): Promise<Account> =>
  memory.read(routes.accounts.current, { params: {}, query: {} }, 'account')

/** Ids that were found out: the account of a key does not change. */
const ids = new WeakMap<Session['memory'], string>()

/** Its id; `me` when that cannot be found out in time. */
async function ownId(session: Session): Promise<string> {
  const known = ids.get(session.memory)
  if (known !== undefined) return known
  const id = ownAccount(session).then(
    (account) => {
      ids.set(session.memory, account.id)
      return account.id
    },
    (error: unknown) => {
      if (error instanceof ApiError) return 'me'
      throw error
    },
  )
  const timer = new AbortController()
  const late = sleep(patienceMs, 'me', { signal: timer.signal }).catch(() => 'me')
  return Promise.race([id, late]).finally(() => timer.abort())
}
