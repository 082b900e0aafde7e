import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'
import { ignoreApiError } from '../platform/failure.ts'
import {
  accountIn,
  accountUnlessAborted,
  knownOwnAccountId,
  ownAccount,
} from '../platform/sessions/account.ts'
import type { AccountInTree } from '../platform/sessions/account-tree.ts'
import type { CacheLifetime } from '../platform/sessions/reply-cache.ts'
import { type DialogText, dialogText, quotedNameWithId, wordOrQuoted } from '../text/dialog-text.ts'
import type { Run } from './tool.ts'

/** Reads objects of one account. Throws ApiError. */
export interface AccountReader {
  readonly account: string
  /** The argument `account_id` in advice: see `accountArgumentText`. */
  readonly accountArgument: string
  /** The request in this account, unless it names another. */
  requestOf(given: Partial<RouteRequest>): RouteRequest
  call<R extends Route>(route: R, request: Partial<RouteRequest>): Promise<ReplyOf<R>>
  /** Reads through the cache; replies may be some minutes old. */
  readonly cached: CachedRead
  /** Reads now, and refreshes the cache. */
  readonly refreshed: CachedRead
}

type CachedRead = <R extends Route>(
  route: R,
  request: Partial<RouteRequest>,
  lifetime: CacheLifetime,
) => Promise<ReplyOf<R>>

export function accountReader({
  request,
  session,
  signal,
}: Pick<Run, 'request' | 'session' | 'signal'>): AccountReader {
  const account = accountIn(request)
  const { client, cache } = session
  const requestOf: AccountReader['requestOf'] = ({ params, query = {}, ...rest }) => ({
    ...rest,
    query,
    params: { account_id: account, ...params },
  })
  return {
    account,
    accountArgument: accountArgumentText({ request, session }),
    requestOf,
    call: (route, given) => client.call(route, requestOf(given), signal),
    cached: (route, given, lifetime) => cache.read(route, requestOf(given), lifetime),
    refreshed: (route, given, lifetime) => cache.refresh(route, requestOf(given), lifetime),
  }
}

type AccountRun = Pick<Run, 'request' | 'session'>

/** The account of a request as the person who confirms sees it: name and id. */
export async function accountForPerson({
  request,
  session,
  signal,
}: AccountRun & Pick<Run, 'signal'>): Promise<DialogText> {
  const account = accountIn(request)
  // If the name cannot be read, the question shows only the id.
  const own = await accountUnlessAborted(ownAccount(session), signal).catch(ignoreApiError)
  if (own && (account === 'me' || account === own.id)) return quotedNameWithId(own.name, own.id)
  return account === 'me' ? dialogText`the API key's own account` : wordOrQuoted(account)
}

/**
 * The argument `account_id` as the end of advice, such as `, account_id y`. Empty if the tools need
 * no `account_id`.
 */
export function accountArgumentText({ request, session }: AccountRun): string {
  const account = accountIn(request)
  const isOwn = account === 'me' || account === knownOwnAccountId(session)
  return isOwn || session.pinnedAccount !== undefined ? '' : `, account_id ${account}`
}

/** The run with its request moved to an account; unchanged if no account is given. */
export function runIn<R extends Pick<Run, 'request'>>(
  account: AccountInTree | undefined,
  run: R,
): R {
  if (!account) return run
  const params = { ...run.request.params, account_id: account.id }
  return { ...run, request: { ...run.request, params } }
}
