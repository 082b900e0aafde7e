import * as z from 'zod'
import { shownAfterMs } from '../../calls/call-follower.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { JournalError } from '../../state/call-journal.ts'
import { canonicalId } from '../../text/canonical-id.ts'
import { ApiError, isNotFound, isRejectedWith } from '../failure.ts'
import { accountIn, ownAccount, rememberOwnAccount } from './account.ts'
import type { Session } from './session.ts'

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
