import { ApiError } from '../api/failure.ts'
import { rejectOnAbort } from '../api/time-limit.ts'
import type { Account } from '../contract/account.ts'
import { routes } from '../contract/routes.ts'
import type { Run } from '../mcp/call/tool.ts'
import { isOwnAccount, ownAccount } from '../session/account.ts'
import { bare, namedShown, type Shown, say } from '../text/quoted.ts'

type OnAccount = Pick<Run, 'request' | 'session'>
type Asking = OnAccount & Pick<Run, 'signal'>

/** The account that something is done under, as a person who is asked recognises it. */
export async function accountFact({ request, session, signal }: Asking): Promise<Shown> {
  const { account_id = 'me' } = request.params
  // Not to know its name is no reason not to ask.
  const own = await accountInTime(session, signal).catch((error: unknown) => {
    if (error instanceof ApiError) return undefined
    throw error
  })
  if (own && (account_id === 'me' || account_id === own.id)) return namedShown(own.name, own.id)
  return account_id === 'me' ? say`the API key's own account` : bare(account_id)
}

/** How advice names the account of a call, where tools do not act on it by themselves. */
export function accountArgument({ request, session }: OnAccount): string {
  const { account_id = 'me' } = request.params
  const isImplied = session.account !== undefined || isOwnAccount(session, account_id)
  return isImplied ? '' : `, account_id ${account_id}`
}

/** The key's own account; a caller who gives up does not wait for it. Throws ApiError. */
function accountInTime(session: Run['session'], signal: AbortSignal | undefined): Promise<Account> {
  const route = { ...routes.accounts.current, attempts: 1 }
  const gaveUp = () => new ApiError({ kind: 'cancelled', maybeSent: false }, route)
  return rejectOnAbort(ownAccount(session), signal, gaveUp)
}
