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
const rememberOwnAccount = (cache: ReplyCache, { id }: Pick<Account, 'id'>): void =>
  void ownIds.set(cache, id)

/** Id of the key's own account if it was read before. */
export const knownOwnAccountId = (cache: ReplyCache): string | undefined => ownIds.get(cache)

/** Why a key may not keep anything open on this server, such as a stream. */
export interface KeyFault {
  readonly status: 401 | 503
  readonly message: string
}

/**
 * How long a refused key is not checked again, ms. Repeated tries of a client then cost the platform
 * nothing, and a key that is corrected works soon.
 */
const refusedMs = 10_000

/** Most refused keys that are remembered: some 2 MB with the reasons. */
const maxRefused = 1000

type FaultOfKey = (
  session: Pick<Session, 'cache' | 'keyHash' | 'keySource' | 'redact'>,
) => Promise<KeyFault | undefined>

/**
 * A fault if the platform refuses the key or cannot be asked. A key that it accepts is asked once,
 * and one that it refuses at most once in `refusedMs`.
 */
export function createFaultOfKey(): FaultOfKey {
  // By the key's hash; until when, by the clock of `performance.now`.
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

/** The key's own account. A sandbox also has an id, because a new sandbox is another platform. */
const KeyAccount = z.object({ id: z.string(), sandbox_id: z.string().optional().catch(undefined) })
type KeyAccount = z.output<typeof KeyAccount>

/**
 * The key's own account, for placing calls. It is noted in the journal: a platform that does not tell
 * the account at the moment must not make a call that was placed look like one that failed. Throws
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

/** As the platform has it now. A sandbox is asked each time: it may have been replaced. */
async function currentAccount(session: Session): Promise<KeyAccount> {
  const own = KeyAccount.parse(await ownAccount(session))
  if (own.sandbox_id === undefined) return own
  const request = { params: {}, query: {} }
  return KeyAccount.parse(await session.cache.refresh(routes.accounts.current, request, 'account'))
}

/** The platform knows the key and refuses it, or does not know it. */
const isRefusal = ({ failure }: ApiError) =>
  failure.kind === 'rejected' && (failure.status === 401 || failure.status === 403)

/** The account that a request places calls in, or waits for calls of. */
interface CallAccount {
  /** Never `me`. */
  readonly account: string
  /** It is the key's own. */
  readonly isOwn: boolean
  /** Whose calls these are in the journal: the same for all keys of the account. */
  readonly callOwner: string
}

/** The account of a request for the journal. Throws ApiError and JournalError. */
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

/** What is read with the key's own account; waiting for it ends with the signal. Throws ApiError. */
export function accountUnlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const route = { ...routes.accounts.current, attempts: 1 }
  const gaveUp = () => new ApiError({ kind: 'cancelled', maybeSent: false }, route)
  return rejectOnAbort(promise, signal, gaveUp)
}

/**
 * Whether an error says that a call does not exist which was placed less than half a minute ago:
 * some platforms show a call only after a while. The journal knows when it was placed; of a call that
 * is not in it the platform is believed.
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

/** The hash that an API key is known by, wherever the key itself must not be. */
export const keyHashOf = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('base64url')
