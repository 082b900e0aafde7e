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
 * The account of a request. It is determined once, when the request arrives (settledAccount). From
 * then on it is in `params.account_id`, as an id or as `me` (accountIn).
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
  { cache }: Pick<Session, 'cache'>,
): Promise<string> {
  const account = accountIn(request)
  return account === 'me' ? ownAccountId(cache) : account
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

/** Id of each API key's own account, once known. It never changes, so entries never expire. */
const ownIds = new WeakMap<ReplyCache, string>()

/**
 * Id of the API key's own account, read once per key. Concurrent requests share one read. A failure
 * is not cached. Throws ApiError.
 */
export async function ownAccountId(cache: ReplyCache): Promise<string> {
  const known = ownIds.get(cache)
  if (known !== undefined) return known
  const own = await ownAccount({ cache })
  rememberOwnAccount(cache, own)
  return own.id
}

/** Stores the id of the API key's own account. Must run after each read of that account. */
const rememberOwnAccount = (cache: ReplyCache, { id }: Pick<Account, 'id'>): void =>
  void ownIds.set(cache, id)

/** Id of the API key's own account; `undefined`: not read yet. */
export const knownOwnAccountId = (cache: ReplyCache): string | undefined => ownIds.get(cache)

/** Reason to refuse an API key anything that stays open on this server, such as a stream. */
export interface KeyFault {
  readonly status: 401 | 503
  readonly message: string
}

/**
 * Time for which a refused API key is not checked again, ms. A client's retries then cost the
 * platform nothing, and a key that the platform accepts again works soon.
 */
const refusedMs = 10_000

/** Maximum number of refused API keys remembered. They take about 2 MB with the reasons. */
const maxRefused = 1000

type FaultOfKey = (
  session: Pick<Session, 'cache' | 'keyHash' | 'keySource' | 'redact'>,
) => Promise<KeyFault | undefined>

/**
 * Returns a fault if the platform refuses the API key or cannot be asked. Checks an accepted key
 * once, and a refused key at most once per `refusedMs`.
 */
export function createFaultOfKey(): FaultOfKey {
  // By hash of the API key. `until` is a time of `performance.now`.
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
 * The API key's own account. A sandbox also reports its own id, because a reset sandbox counts as
 * another platform.
 */
const KeyAccount = z.object({ id: z.string(), sandbox_id: z.string().optional().catch(undefined) })
type KeyAccount = z.output<typeof KeyAccount>

/**
 * The API key's own account, for placing calls. Also stored in the journal, for when the platform
 * temporarily cannot name the account: a call that was already placed must not look failed. Throws
 * ApiError and JournalError.
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
 * Reads the API key's own account from the platform. A sandbox is asked each time, because it may
 * have been replaced.
 */
async function currentAccount(session: Session): Promise<KeyAccount> {
  const own = KeyAccount.parse(await ownAccount(session))
  if (own.sandbox_id === undefined) return own
  const request = { params: {}, query: {} }
  return KeyAccount.parse(await session.cache.refresh(routes.accounts.current, request, 'account'))
}

/** True if the platform refuses the API key or does not know it. */
const isRefusal = ({ failure }: ApiError) =>
  failure.kind === 'rejected' && (failure.status === 401 || failure.status === 403)

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

/**
 * Result of a read that begins with the API key's own account. Stops waiting when the signal fires.
 * Throws ApiError.
 */
export function accountUnlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const route = { ...routes.accounts.current, attempts: 1 }
  const gaveUp = () => new ApiError({ kind: 'cancelled', maybeSent: false }, route)
  return rejectOnAbort(promise, signal, gaveUp)
}

/**
 * True for a 404 about a call that was placed less than 30 s ago: some platforms show a call only
 * after a while. The journal knows when the call was placed. If the journal lacks the call, the 404
 * stands.
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

/** Hash of an API key, for every place where the API key itself must not appear. */
export const keyHashOf = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('base64url')
