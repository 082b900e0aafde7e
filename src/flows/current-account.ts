import { ApiError } from '../api/failure.ts'
import { Account } from '../contract/account.ts'
import { routes } from '../contract/routes.ts'
import { learnAccount } from '../mcp/account.ts'
import type { Run, Steps } from '../mcp/tool.ts'

/** The account that the tools act on: the key's own, or the one the operator has pinned. */
export const currentAccount: Steps<typeof routes.accounts.current> = {
  schema: Account,
  async run(run) {
    const { request, session, signal } = run
    const own = await session.client.call(routes.accounts.current, request, signal)
    learnAccount(session, own)
    const pinned = session.account
    if (pinned === undefined || pinned === 'me' || pinned === own.id) return { structured: own }
    return { structured: (await subaccount(pinned, run)) ?? { id: pinned } }
  },
}

/** A direct subaccount; others are reached, but cannot be looked up from here. */
async function subaccount(
  subaccount_id: string,
  { session, signal }: Pick<Run, 'session' | 'signal'>,
) {
  const params = { account_id: 'me', subaccount_id }
  try {
    return await session.client.call(routes.accounts.getSubaccount, { params, query: {} }, signal)
  } catch (error) {
    const isUnknown =
      error instanceof ApiError && error.failure.kind === 'rejected' && error.failure.status === 404
    if (isUnknown) return undefined
    throw error
  }
}
