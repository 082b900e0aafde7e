import * as z from 'zod'
import { shownAfterMs } from '../../calls/call-follower.ts'
import type { Account } from '../../contract/account.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { JournalError } from '../../state/call-journal.ts'
import { canonicalId } from '../../text/canonical-id.ts'
import { ApiError, isNotFound, isRejectedWith } from '../failure.ts'
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
const rememberOwnAccount = ({ cache }: Pick<Session, 'cache'>, { id }: Pick<Account, 'id'>): void =>
  void ownIds.set(cache, id)

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

/** Account in which a request places telephone calls or waits for them. */
interface CallAccount {
  /** Account id. Never `me`. */
  readonly account: string
  /** True for the API key's own account. */
  readonly isOwn: boolean
  /** Owner of the account's calls in the journal. Equal for all API keys of the account. */
  readonly callOwner: string
}

/**
 * The account of a request, with the owner of its calls in the journal. Throws ApiError and
 * JournalError.
 */
export async function callAccountIn(
  request: Pick<RouteRequest, 'params'>,
  session: Session,
): Promise<CallAccount> {
  const own = await keyAccount(session)
  const named = accountIn(request)
  const account = named === 'me' ? own.id : named
  const id = canonicalId(account)
  return {
    account,
    isOwn: id === canonicalId(own.id),
    callOwner: JSON.stringify([session.platform, own.sandbox_id ?? null, id]),
  }
}

/**
 * The API key's own account. A sandbox also reports its own id, because a reset sandbox counts as
 * another platform.
 */
const KeyAccount = z.object({ id: z.string(), sandbox_id: z.string().optional().catch(undefined) })
type KeyAccount = z.output<typeof KeyAccount>

/**
 * The API key's own account, for placing calls. The account is also stored in the journal: if the
 * platform temporarily cannot name it, a call that was already placed must not look failed. Throws
 * ApiError and JournalError.
 */
async function keyAccount(session: Session): Promise<KeyAccount> {
  const { journal } = session.callServices
  const name = `account of ${session.platform} ${session.keyHash}`
  const noted = await journal.readNote(name)
  const own = await currentAccount(session).catch((error: unknown) => {
    const isKeyRefused = isRejectedWith(error, 401, 403)
    if (!(error instanceof ApiError) || isKeyRefused || noted === undefined) throw error
    return KeyAccount.parse(JSON.parse(noted))
  })
  rememberOwnAccount(session, own)
  const value = JSON.stringify(own)
  if (value !== noted) await journal.writeNote(name, value)
  return own
}

/**
 * Reads the API key's own account from the platform. A sandbox is asked each time, because it may
 * have been replaced.
 */
async function currentAccount(session: Session): Promise<KeyAccount> {
  const own = KeyAccount.parse(await ownAccount(session))
  if (own.sandbox_id === undefined) return own
  const request = { params: {}, query: {} }
  return KeyAccount.parse(await session.cache.refresh(routes.accounts.current, request, 'account'))
}

/**
 * True for a 404 about a call that was placed less than 30 s ago, by the time in the journal: some
 * platforms show a call only after a while. False if the journal does not have the call.
 */
export async function mayShowLater(
  error: unknown,
  { account, callId }: { readonly account: string; readonly callId: string },
  session: Session,
): Promise<boolean> {
  if (!isNotFound(error)) return false
  try {
    const request = { params: { account_id: account } }
    const { callOwner } = await callAccountIn(request, session)
    const agoMs = await session.callServices.journal.placedAgoMs(callOwner, callId)
    return typeof agoMs === 'number' && agoMs < shownAfterMs
  } catch (failure) {
    if (failure instanceof JournalError || failure instanceof ApiError) return false
    throw failure
  }
}
