import { ApiError } from '../../api/failure.ts'
import { rejectOnAbort } from '../../api/time-limit.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { callOwner, isKeyAccount, keyAccount } from '../../session/call-owner.ts'
import type { CallOwner } from '../../state/journal.ts'
import { withCallErrorsRefused } from './call-errors.ts'

/** The part of a run that placing calls needs. Its request names the account by id, never as `me`. */
export interface PlacingRun extends Pick<Run, 'request' | 'session' | 'signal' | 'answerBy'> {
  /** Whose calls these are in the journal. */
  readonly callOwner: CallOwner
}

/**
 * The same run with the account as an id: with two names for one account, the journal would place one
 * call twice. Throws ApiError if the key has no access to the account, because the outcomes of earlier
 * calls are reported without asking the platform.
 */
export async function placingRun<
  R extends Pick<Run, 'request' | 'session' | 'signal' | 'answerBy'>,
>(run: R): Promise<R & PlacingRun> {
  const notSent = { kind: 'cancelled', maybeSent: false } as const
  const { account_id, owner } = await rejectOnAbort(
    accountAndOwner(run),
    run.signal,
    () => new ApiError(notSent, { ...routes.accounts.current, attempts: 1 }),
  )
  const params = { ...run.request.params, account_id }
  return { ...run, request: { ...run.request, params }, callOwner: owner }
}

async function accountAndOwner(run: Pick<Run, 'request' | 'session'>) {
  const { request, session } = run
  const own = await withCallErrorsRefused(run, async () =>
    keyAccount(session, await session.callServices.journal()),
  )
  const named = accountIn(request)
  const account_id = named === 'me' ? own.id : named
  if (!isKeyAccount(account_id, own)) {
    // The cheapest request that fails without access to the account's calls.
    const oneCall = { params: { account_id }, query: { limit: 1 } }
    await session.cache.read(routes.calls.list, oneCall, 'account')
  }
  return { account_id, owner: callOwner(session, account_id, own) }
}
