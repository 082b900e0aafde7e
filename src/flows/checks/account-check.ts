import type { Account } from '../../contract/account.ts'
import { routes } from '../../contract/routes.ts'
import { nameWithId } from '../../text/closest-match.ts'
import { type AccountReader, unlessMissing } from './account-reader.ts'
import { type CheckResult, ok, problem } from './check-result.ts'

/**
 * Checks that the account is active, and the key's own account above it: a call needs both. If the
 * operator has pinned another account, the id and name of the key's own one are not shown. Throws
 * ApiError.
 */
export async function checkAccounts(
  { account, call }: AccountReader,
  pinnedAccount: string | undefined,
): Promise<CheckResult[]> {
  const own = await call(routes.accounts.current, {})
  const isHidden = pinnedAccount !== undefined && ![own.id, 'me'].includes(pinnedAccount)
  const shown = isHidden ? { ...own, id: "the API key's own", name: null } : own
  const ownCheck = activeCheck(
    shown,
    'only who runs the platform, or a parent account, can change that',
  )
  if (account === 'me' || account === own.id) return [ownCheck]
  const params = { account_id: 'me', subaccount_id: account }
  const subaccount = await unlessMissing(call(routes.accounts.getSubaccount, { params }))
  return subaccount
    ? [ownCheck, activeCheck(subaccount, 'activate it with update_subaccount, is_active true')]
    : [ownCheck]
}

function activeCheck({ id, name, is_active }: Account, fix: string): CheckResult {
  const account = nameWithId(name, id)
  return is_active === false
    ? problem('account', `${account} is inactive`, fix)
    : ok('account', account)
}
