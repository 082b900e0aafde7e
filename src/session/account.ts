import type { Client } from '../api/client.ts'
import { ApiError } from '../api/failure.ts'
import { saidBy } from '../api/failure-text.ts'
import { rejectOnAbort } from '../api/time-limit.ts'
import type { Account } from '../contract/account.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { Session } from './session.ts'

type Remembering = Pick<Session, 'cache'>

/**
 * The account a request acts on, for its result to name; `undefined` where there is nothing to
 * name: the operator has pinned the account, or the operation belongs to none. Throws ApiError.
 */
export async function accountOf(
  route: Route,
  { params }: Pick<RouteRequest, 'params'>,
  session: Session,
): Promise<string | undefined> {
  if (session.account !== undefined || !('account_id' in route.params.shape)) return undefined
  return accountId(params, session)
}

/** The id of the account that path parameters name: never `me`. Throws ApiError. */
export const accountId = async (
  { account_id = 'me' }: RouteRequest['params'],
  session: Remembering,
): Promise<string> => (account_id === 'me' ? ownAccountId(session.cache) : account_id)

/** The key's own account, as it was read within the hour. Throws ApiError. */
export const ownAccount = ({ cache }: Remembering): Promise<Account> =>
  cache.read(routes.accounts.current, { params: {}, query: {} }, 'account')

/**
 * The account that the tools act on: the key's own, or the one the operator has pinned. One that is
 * no direct subaccount is reached, but cannot be looked up from here: only its id is known. Throws
 * ApiError.
 */
export async function accountInForce(
  session: Pick<Session, 'client' | 'cache' | 'account'>,
  signal: AbortSignal | undefined,
): Promise<Account> {
  const { client, account } = session
  const own = await client.call(routes.accounts.current, { params: {}, query: {} }, signal)
  learnAccount(session, own)
  if (account === undefined || account === 'me' || account === own.id) return own
  const below = { params: { account_id: 'me', subaccount_id: account }, query: {} }
  try {
    return await client.call(routes.accounts.getSubaccount, below, signal)
  } catch (error) {
    const isUnknown =
      error instanceof ApiError && error.failure.kind === 'rejected' && error.failure.status === 404
    if (isUnknown) return { id: account }
    throw error
  }
}

/** Ids that were learnt, one for each key: the account of a key does not change. */
const ids = new WeakMap<ReplyCache, string>()

/**
 * Its id. Asked for once per key: who needs it at the same time waits for the same answer, and a
 * failure is not kept. Throws ApiError.
 */
export async function ownAccountId(cache: ReplyCache): Promise<string> {
  const known = ids.get(cache)
  if (known !== undefined) return known
  const own = await ownAccount({ cache })
  learnAccount({ cache }, own)
  return own.id
}

/** Why a key may hold nothing of the server. */
export interface KeyFault {
  readonly status: 401 | 503
  readonly message: string
}

/** Why a key may hold nothing: the platform refuses it, or cannot be asked. Asked once per key. */
export async function faultOfKey({
  cache,
  keySource,
  redact,
}: Pick<Session, 'cache' | 'keySource' | 'redact'>): Promise<KeyFault | undefined> {
  try {
    await ownAccountId(cache)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { failure } = error
    const said = redact(saidBy(failure))
    const isRefused = failure.kind === 'rejected' && [401, 403].includes(failure.status)
    return isRefused
      ? { status: 401, message: `The platform refuses the API key from ${keySource} (${said}).` }
      : { status: 503, message: `The platform could not be asked about the API key (${said}).` }
  }
}

/** Remembers the account of a key that somebody has just read. */
export const learnAccount = ({ cache }: Remembering, { id }: Pick<Account, 'id'>): void =>
  void ids.set(cache, id)

/** Whether an id is that of the key's own account, as far as that was learnt already. */
export const isOwnAccount = ({ cache }: Remembering, id: string): boolean =>
  id === 'me' || id === ids.get(cache)

/**
 * A client that sends the account's id where a request names the key's own account as `me`: the
 * platform's reference types some of these path parameters as UUIDs.
 */
export function onOwnAccount(client: Client, ownId: () => Promise<string>): Client {
  return {
    async call(route, request, signal) {
      const isOwn = request.params.account_id === 'me' && 'account_id' in route.params.shape
      if (!isOwn) return client.call(route, request, signal)
      const notSent = { kind: 'cancelled', maybeSent: false } as const
      const account_id = await rejectOnAbort(
        ownId(),
        signal,
        () => new ApiError(notSent, { ...route, attempts: 0 }),
      )
      return client.call(route, { ...request, params: { ...request.params, account_id } }, signal)
    },
  }
}
