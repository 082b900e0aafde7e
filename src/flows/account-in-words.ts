import { ApiError } from '../api/failure.ts'
import { rejectOnAbort } from '../api/time-limit.ts'
import type { Account } from '../contract/account.ts'
import { routes } from '../contract/routes.ts'
import type { Run } from '../mcp/call/tool.ts'
import { accountIn, knownOwnAccountId, ownAccount } from '../session/account.ts'
import { bare, namedShown, type Shown, say } from '../text/quoted.ts'

type OnAccount = Pick<Run, 'request' | 'session'>
type Asking = OnAccount & Pick<Run, 'signal'>

/** The account that something is done under, as a person who is asked recognises it. */
export async function accountForPerson({ request, session, signal }: Asking): Promise<Shown> {
  const account = accountIn(request)
  // Not to know its name is no reason not to ask.
  const own = await accountInTime(session, signal).catch((error: unknown) => {
    if (error instanceof ApiError) return undefined
    throw error
  })
  if (own && (account === 'me' || account === own.id)) return namedShown(own.name, own.id)
  return account === 'me' ? say`the API key's own account` : bare(account)
}

/** How advice names the account of a call, where tools do not act on it by themselves. */
export function accountArgumentText({ request, session }: OnAccount): string {
  const account = accountIn(request)
  const isOwn = account === 'me' || account === knownOwnAccountId(session.cache)
  return isOwn || session.pinnedAccount !== undefined ? '' : `, account_id ${account}`
}

/** The key's own account; a caller who gives up does not wait for it. Throws ApiError. */
function accountInTime(session: Run['session'], signal: AbortSignal | undefined): Promise<Account> {
  const route = { ...routes.accounts.current, attempts: 1 }
  const gaveUp = () => new ApiError({ kind: 'cancelled', maybeSent: false }, route)
  return rejectOnAbort(ownAccount(session), signal, gaveUp)
}
