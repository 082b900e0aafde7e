import { ApiError } from '../api/failure.ts'
import type { Account } from '../contract/account.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { Session } from './session.ts'

/*
 * Which account a request acts on. It is settled once, where the request comes in (settledAccount);
 * from there on every request names it in `params.account_id` (accountIn), as an id or as `me`.
 */

/** The account that a request acts on: the pinned one, else the one it names, else the key's own. */
export const settledAccount = (
  named: string | undefined,
  pinned: Session['pinnedAccount'],
): string => pinned ?? (named || 'me')

/** The account of a request; `me` is the key's own. */
export const accountIn = ({ params }: Pick<RouteRequest, 'params'>): string =>
  params.account_id ?? 'me'

/** The same as an id. Throws ApiError. */
export async function accountIdIn(
  request: Pick<RouteRequest, 'params'>,
  { cache }: Pick<Session, 'cache'>,
): Promise<string> {
  const account = accountIn(request)
  return account === 'me' ? ownAccountId(cache) : account
}

/**
 * Id of the account that a result names; `undefined` if it names none, because the operator has
 * pinned the account or the operation belongs to no account. Throws ApiError.
 */
export async function resultAccount(
  route: Route,
  request: Pick<RouteRequest, 'params'>,
  session: Pick<Session, 'cache' | 'pinnedAccount'>,
): Promise<string | undefined> {
  if (session.pinnedAccount !== undefined || !('account_id' in route.params.shape)) return undefined
  return accountIdIn(request, session)
}

/** The key's own account, as it was read within the last hour. Throws ApiError. */
export const ownAccount = ({ cache }: Pick<Session, 'cache'>): Promise<Account> =>
  cache.read(routes.accounts.current, { params: {}, query: {} }, 'account')

/**
 * The account that the tools act on, read now: the pinned account, or else the key's own. A pinned
 * account that is no direct subaccount cannot be read with this key, so only its id is known. Throws
 * ApiError.
 */
export async function accountInUse(
  { client, cache, pinnedAccount }: Pick<Session, 'client' | 'cache' | 'pinnedAccount'>,
  signal: AbortSignal | undefined,
): Promise<Account> {
  const own = await client.call(routes.accounts.current, { params: {}, query: {} }, signal)
  rememberOwnAccount(cache, own)
  if (pinnedAccount === undefined || pinnedAccount === 'me' || pinnedAccount === own.id) return own
  const request = { params: { account_id: 'me', subaccount_id: pinnedAccount }, query: {} }
  try {
    return await client.call(routes.accounts.getSubaccount, request, signal)
  } catch (error) {
    const isUnknown =
      error instanceof ApiError && error.failure.kind === 'rejected' && error.failure.status === 404
    if (isUnknown) return { id: pinnedAccount }
    throw error
  }
}

/** The own account of each key, once it is known. It never changes, so it is kept with no limit. */
const ownIds = new WeakMap<ReplyCache, string>()

/**
 * Id of the key's own account, read once per key: requests at the same time share one read, and a
 * failure is not kept. Throws ApiError.
 */
export async function ownAccountId(cache: ReplyCache): Promise<string> {
  const known = ownIds.get(cache)
  if (known !== undefined) return known
  const own = await ownAccount({ cache })
  rememberOwnAccount(cache, own)
  return own.id
}

/** To be called with the key's own account whenever it was read. */
export const rememberOwnAccount = (cache: ReplyCache, { id }: Pick<Account, 'id'>): void =>
  void ownIds.set(cache, id)

/** Id of the key's own account if it was read before. */
export const knownOwnAccountId = (cache: ReplyCache): string | undefined => ownIds.get(cache)
