import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { shownAfterMs } from '../../calls/call-follower.ts'
import type { Account } from '../../contract/account.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { type Journal, JournalError } from '../../state/journal.ts'
import { canonicalId } from '../../text/canonical-id.ts'
import { ApiError, failureText, isNotFound } from '../failure.ts'
import { rejectOnAbort } from '../time-limit.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { Session } from './session.ts'

/*
 * The account of a request. It is settled once, on entry (settledAccount); from there on every
 * request names it in `params.account_id` (accountIn), as an id or as `me`.
 */

/** The account of a request: the pinned one, or else the one it names, or else the key's own. */
export const settledAccount = (
  named: string | undefined,
  pinned: Session['pinnedAccount'],
): string => pinned ?? (named || 'me')

/** The account of a settled request; `me` is the key's own. */
export const accountIn = ({ params }: Pick<RouteRequest, 'params'>): string =>
  params.account_id ?? 'me'

/** The account's id. Throws ApiError. */
export async function accountIdIn(
  request: Pick<RouteRequest, 'params'>,
  { cache }: Pick<Session, 'cache'>,
): Promise<string> {
  const account = accountIn(request)
  return account === 'me' ? ownAccountId(cache) : account
}

/**
 * Account id to name in a result; `undefined` if the account is pinned or the operation belongs to
 * no account. Throws ApiError.
 */
export async function resultAccount(
  route: Route,
  request: Pick<RouteRequest, 'params'>,
  session: Pick<Session, 'cache' | 'pinnedAccount'>,
): Promise<string | undefined> {
  if (session.pinnedAccount !== undefined || !('account_id' in route.params.shape)) return undefined
  return accountIdIn(request, session)
}

/** The key's own account, at most an hour old. Throws ApiError. */
export const ownAccount = ({ cache }: Pick<Session, 'cache'>): Promise<Account> =>
  cache.read(routes.accounts.current, { params: {}, query: {} }, 'account')

/**
 * Reads the account that the tools act on: the pinned one, or else the key's own. A pinned account
 * that is no direct subaccount cannot be read with this key, so only its id is known. Throws
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

/** Own account of each key, once known. A key's account never changes, so entries never expire. */
const ownIds = new WeakMap<ReplyCache, string>()

/**
 * Id of the key's own account, read once per key. Concurrent requests share one read; a failure is
 * not cached. Throws ApiError.
 */
export async function ownAccountId(cache: ReplyCache): Promise<string> {
  const known = ownIds.get(cache)
  if (known !== undefined) return known
  const own = await ownAccount({ cache })
  rememberOwnAccount(cache, own)
  return own.id
}

/** Call with the key's own account after each read of it. */
const rememberOwnAccount = (cache: ReplyCache, { id }: Pick<Account, 'id'>): void =>
  void ownIds.set(cache, id)

/** Id of the key's own account, if already read. */
export const knownOwnAccountId = (cache: ReplyCache): string | undefined => ownIds.get(cache)

/** Why a key may not hold anything open on this server, such as a stream. */
export interface KeyFault {
  readonly status: 401 | 503
  readonly message: string
}

/**
 * Time that a refused key is not rechecked, ms. A client's retries then cost the platform nothing,
 * and a corrected key works soon.
 */
const refusedMs = 10_000

/** Maximum refused keys remembered, about 2 MB with the reasons. */
const maxRefused = 1000

type FaultOfKey = (
  session: Pick<Session, 'cache' | 'keyHash' | 'keySource' | 'redact'>,
) => Promise<KeyFault | undefined>

/**
 * Returns a fault if the platform refuses the key or cannot be asked. An accepted key is checked
 * once, a refused one at most once per `refusedMs`.
 */
export function createFaultOfKey(): FaultOfKey {
  // By key hash; `until` by `performance.now`.
  const refused = new LRUCache<string, { readonly reason: string; readonly until: number }>({
    max: maxRefused,
  })
  return async ({ cache, keyHash, keySource, redact }) => {
    const known = refused.get(keyHash)
    if (known && known.until > performance.now()) return refusal(keySource, known.reason)
    try {
      await ownAccountId(cache)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { failure } = error
      const reason = redact.start(failureText(failure), 1000)
      const isRefused = failure.kind === 'rejected' && [401, 403].includes(failure.status)
      if (!isRefused) {
        const message = `The platform could not be asked about the API key (${reason}).`
        return { status: 503, message }
      }
      refused.set(keyHash, { reason, until: performance.now() + refusedMs })
      return refusal(keySource, reason)
    }
  }
}

const refusal = (keySource: string, reason: string): KeyFault => ({
  status: 401,
  message: `The platform refuses the API key from ${keySource} (${reason}).`,
})

/**
 * The key's own account. A sandbox also has its id, because a reset sandbox is another platform.
 */
const KeyAccount = z.object({ id: z.string(), sandbox_id: z.string().optional().catch(undefined) })
type KeyAccount = z.output<typeof KeyAccount>

/**
 * The key's own account, for placing calls. The account is noted in the journal, so that a placed
 * call does not look failed if the platform temporarily cannot name the account. Throws ApiError
 * and JournalError.
 */
async function keyAccount(session: Session, journal: Journal): Promise<KeyAccount> {
  const name = `account of ${session.platform} ${session.keyHash}`
  const noted = await journal.readNote(name)
  const own = await currentAccount(session).catch((error: unknown) => {
    if (!(error instanceof ApiError) || isRefusal(error) || noted === undefined) throw error
    return KeyAccount.parse(JSON.parse(noted))
  })
  rememberOwnAccount(session.cache, own)
  const value = JSON.stringify(own)
  if (value !== noted) await journal.writeNote(name, value)
  return own
}

/**
 * Current account from the platform. A sandbox is asked each time, because it may have been
 * replaced.
 */
async function currentAccount(session: Session): Promise<KeyAccount> {
  const own = KeyAccount.parse(await ownAccount(session))
  if (own.sandbox_id === undefined) return own
  const request = { params: {}, query: {} }
  return KeyAccount.parse(await session.cache.refresh(routes.accounts.current, request, 'account'))
}

/** True if the platform refuses or does not know the key. */
const isRefusal = ({ failure }: ApiError) =>
  failure.kind === 'rejected' && (failure.status === 401 || failure.status === 403)

/** Account in which a request places calls or waits for them. */
interface CallAccount {
  /** Never `me`. */
  readonly account: string
  /** True for the key's own account. */
  readonly isOwn: boolean
  /** Owner of these calls in the journal, the same for all keys of the account. */
  readonly callOwner: string
}

/** The request's account for the journal. Throws ApiError and JournalError. */
export async function callAccountIn(
  request: Pick<RouteRequest, 'params'>,
  session: Session,
  journal: Journal,
): Promise<CallAccount> {
  const own = await keyAccount(session, journal)
  const named = accountIn(request)
  const account = named === 'me' ? own.id : named
  const id = canonicalId(account)
  return {
    account,
    isOwn: id === canonicalId(own.id),
    callOwner: JSON.stringify([session.platform, own.sandbox_id ?? null, id]),
  }
}

/** Reads with the key's own account; waits until the signal fires at most. Throws ApiError. */
export function accountUnlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const route = { ...routes.accounts.current, attempts: 1 }
  const gaveUp = () => new ApiError({ kind: 'cancelled', maybeSent: false }, route)
  return rejectOnAbort(promise, signal, gaveUp)
}

/**
 * True for a 404 about a call placed less than 30 s ago: some platforms show a call only after a
 * while. The journal knows the time of placing; for a call outside the journal the 404 stands.
 */
export async function mayShowLater(
  error: unknown,
  { account, callId }: { readonly account: string; readonly callId: string },
  session: Session,
): Promise<boolean> {
  if (!isNotFound(error)) return false
  try {
    const journal = await session.callServices.journal()
    const request = { params: { account_id: account } }
    const { callOwner } = await callAccountIn(request, session, journal)
    const agoMs = await journal.placedAgoMs(callOwner, callId)
    return typeof agoMs === 'number' && agoMs < shownAfterMs
  } catch (failure) {
    if (failure instanceof JournalError || failure instanceof ApiError) return false
    throw failure
  }
}

/** Hash of an API key, used wherever the key itself must not appear. */
export const keyHashOf = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('base64url')
