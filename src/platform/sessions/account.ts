import type { Account } from '../../contract/account.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { ApiError, isRejectedWith } from '../failure.ts'
import { rejectOnAbort } from '../time-limit.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { Session } from './session.ts'

/*
 * The account of a request. `settledAccount` determines it once, when the request arrives. From
 * then on it is in `params.account_id`, as an id or as `me`, where `accountIn` reads it.
 */

/**
 * The account of a request: the pinned account, else the one that the request names, else the API
 * key's own.
 */
export const settledAccount = (
  named: string | undefined,
  pinned: Session['pinnedAccount'],
): string => pinned ?? (named || 'me')

/** The account of a request after `settledAccount`; `me`: the API key's own account. */
export const accountIn = ({ params }: Pick<RouteRequest, 'params'>): string =>
  params.account_id ?? 'me'

/** The id of a request's account. Throws ApiError. */
export async function accountIdIn(
  request: Pick<RouteRequest, 'params'>,
  session: Pick<Session, 'cache'>,
): Promise<string> {
  const account = accountIn(request)
  return account === 'me' ? ownAccountId(session) : account
}

/**
 * Id of the account that a result names; `undefined` if the account is pinned, or if the operation
 * belongs to no account. Throws ApiError.
 */
export async function resultAccount(
  route: Route,
  request: Pick<RouteRequest, 'params'>,
  session: Pick<Session, 'cache' | 'pinnedAccount'>,
): Promise<string | undefined> {
  if (session.pinnedAccount !== undefined || !('account_id' in route.params.shape)) return undefined
  return accountIdIn(request, session)
}

/** The API key's own account, at most an hour old. Throws ApiError. */
export const ownAccount = ({ cache }: Pick<Session, 'cache'>): Promise<Account> =>
  cache.read(routes.accounts.current, { params: {}, query: {} }, 'account')

/**
 * Reads the account that the tools act on: the pinned one, else the API key's own. The API key can
 * read a pinned account only if it is a direct subaccount; otherwise only its id is known. Throws
 * ApiError.
 */
export async function accountInUse(
  session: Pick<Session, 'client' | 'cache' | 'pinnedAccount'>,
  signal: AbortSignal | undefined,
): Promise<Account> {
  const { client, pinnedAccount } = session
  const own = await client.call(routes.accounts.current, { params: {}, query: {} }, signal)
  rememberOwnAccount(session, own)
  if (pinnedAccount === undefined || pinnedAccount === 'me' || pinnedAccount === own.id) return own
  const request = { params: { account_id: 'me', subaccount_id: pinnedAccount }, query: {} }
  try {
    return await client.call(routes.accounts.getSubaccount, request, signal)
  } catch (error) {
    if (isRejectedWith(error, 404)) return { id: pinnedAccount }
    throw error
  }
}

/** Id of each API key's own account, by the key's cache. An id never changes, so none expires. */
const ownIds = new WeakMap<ReplyCache, string>()

/**
 * Id of the API key's own account, read once per key. Concurrent requests share one read. A failure
 * is not cached. Throws ApiError.
 */
export async function ownAccountId(session: Pick<Session, 'cache'>): Promise<string> {
  const known = knownOwnAccountId(session)
  if (known !== undefined) return known
  const own = await ownAccount(session)
  rememberOwnAccount(session, own)
  return own.id
}

/** Stores the id of the API key's own account. Must run after each read that returned it. */
export const rememberOwnAccount = (
  { cache }: Pick<Session, 'cache'>,
  { id }: Pick<Account, 'id'>,
): void => void ownIds.set(cache, id)

/** Id of the API key's own account; `undefined`: not read yet. */
export const knownOwnAccountId = ({ cache }: Pick<Session, 'cache'>): string | undefined =>
  ownIds.get(cache)

/**
 * Result of work that begins with a read of the API key's own account. Stops waiting when the
 * signal fires. Throws ApiError.
 */
export function accountUnlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const route = { ...routes.accounts.current, attempts: 1 }
  const gaveUp = () => new ApiError({ kind: 'cancelled', maybeSent: false }, route)
  return rejectOnAbort(promise, signal, gaveUp)
}
