import * as z from 'zod'
import { ApiError } from '../api/failure.ts'
import { isMissing, shownAfterMs } from '../calls/call-state.ts'
import { routes } from '../contract/routes.ts'
import { type CallOwner, type Journal, JournalError } from '../state/journal.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { ownAccount, rememberOwnAccount } from './account.ts'
import type { Session } from './session.ts'

/** The key's own account. A sandbox also has an id, because a new sandbox is another platform. */
const KeyAccount = z.object({ id: z.string(), sandbox_id: z.string().optional() })
export type KeyAccount = z.output<typeof KeyAccount>

/**
 * The key's own account, for placing calls. It is noted in the journal: a platform that does not tell
 * the account at the moment must not make a call that was placed look like one that failed. Throws
 * ApiError and JournalError.
 */
export async function keyAccount(session: Session, journal: Journal): Promise<KeyAccount> {
  const name = `account of ${session.platform} ${session.owner}`
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

/** Whether an account id is that of the key's own account. */
export const isKeyAccount = (accountId: string, own: KeyAccount): boolean =>
  canonicalId(accountId) === canonicalId(own.id)

/** The owner of an account's calls in the journal: the same for all keys of the account. */
export function callOwner(
  { platform, owner: keyHash }: Session,
  accountId: string,
  own: KeyAccount,
): CallOwner {
  // Version 1 of the journal stored the hash of the key, and the account as it was named.
  const names = isKeyAccount(accountId, own) ? ['me', accountId] : [accountId]
  return {
    owner: JSON.stringify([platform, own.sandbox_id ?? null, canonicalId(accountId)]),
    formerOwners: names.map((name) => `${keyHash} ${name}`),
  }
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
  if (!isMissing(error)) return false
  try {
    const journal = await session.callServices.journal()
    const own = await keyAccount(session, journal)
    const owner = callOwner(session, account === 'me' ? own.id : account, own)
    const agoMs = await journal.placedAgoMs(owner, callId)
    return agoMs !== undefined && agoMs < shownAfterMs
  } catch (failure) {
    if (failure instanceof JournalError || failure instanceof ApiError) return false
    throw failure
  }
}
