import { ApiError } from '../../api/failure.ts'
import { rejectOnAbort } from '../../api/time-limit.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { callOwner, isKeyAccount, keyAccount } from '../../session/call-owner.ts'
import type { CallOwner } from '../../state/journal.ts'
import { type Bounded, bounded } from './bounded-run.ts'
import { inWords } from './call-errors.ts'

/** A run that places calls: on which account, whose calls they are, and until when it is answered. */
export interface Placing extends Bounded {
  readonly callOwner: CallOwner
}

/**
 * The same run with the account named by its id, because one account under two names would make two
 * of what is to be done once. Throws ApiError where the key has no access to the account: what was
 * placed there is told without asking the platform.
 */
export async function forPlacing<
  R extends Pick<Run, 'request' | 'session' | 'signal' | 'answerBy'>,
>(given: R): Promise<R & Placing> {
  const run = bounded(given)
  const notSent = { kind: 'cancelled', maybeSent: false } as const
  const { account_id, owner } = await rejectOnAbort(
    callerFor(run),
    run.signal,
    () => new ApiError(notSent, { ...routes.accounts.current, attempts: 1 }),
  )
  const params = { ...run.request.params, account_id }
  return { ...run, request: { ...run.request, params }, callOwner: owner }
}

async function callerFor(run: Pick<Run, 'request' | 'session'>) {
  const { request, session } = run
  const own = await inWords(run, async () =>
    keyAccount(session, await session.callServices.journal()),
  )
  const named = accountIn(request)
  const account_id = named === 'me' ? own.id : named
  if (!isKeyAccount(account_id, own)) {
    const asked = { params: { account_id }, query: { limit: 1 } }
    await session.cache.read(routes.calls.list, asked, 'account')
  }
  return { account_id, owner: callOwner(session, account_id, own) }
}
