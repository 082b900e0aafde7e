import { ApiError } from '../api/failure.ts'
import { rejectOnAbort } from '../api/time-limit.ts'
import type { Account } from '../contract/account.ts'
import { routes } from '../contract/routes.ts'
import type { Run } from '../mcp/call/tool.ts'
import { accountIn, knownOwnAccountId, ownAccount } from '../session/account.ts'
import { type DialogText, dialogText, quotedNameWithId, wordOrQuoted } from '../text/dialog-text.ts'

type AccountRun = Pick<Run, 'request' | 'session'>

/** The account of a request, as the person who is asked knows it: name and id. */
export async function accountForPerson({
  request,
  session,
  signal,
}: AccountRun & Pick<Run, 'signal'>): Promise<DialogText> {
  const account = accountIn(request)
  // If the name cannot be read, the question is asked without it.
  const own = await ownAccountUnlessAborted(session, signal).catch((error: unknown) => {
    if (error instanceof ApiError) return undefined
    throw error
  })
  if (own && (account === 'me' || account === own.id)) return quotedNameWithId(own.name, own.id)
  return account === 'me' ? dialogText`the API key's own account` : wordOrQuoted(account)
}

/** The argument `account_id` for advice such as `get_call, call_id x`; empty if tools need none. */
export function accountArgumentText({ request, session }: AccountRun): string {
  const account = accountIn(request)
  const isOwn = account === 'me' || account === knownOwnAccountId(session.cache)
  return isOwn || session.pinnedAccount !== undefined ? '' : `, account_id ${account}`
}

/** The key's own account; waiting ends with the signal. Throws ApiError. */
function ownAccountUnlessAborted(
  session: Run['session'],
  signal: AbortSignal | undefined,
): Promise<Account> {
  const route = { ...routes.accounts.current, attempts: 1 }
  const gaveUp = () => new ApiError({ kind: 'cancelled', maybeSent: false }, route)
  return rejectOnAbort(ownAccount(session), signal, gaveUp)
}
