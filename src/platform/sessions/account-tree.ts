import type { Account } from '../../contract/account.ts'
import { routes } from '../../contract/routes.ts'
import { ApiError } from '../failure.ts'
import { mapConcurrently } from '../map-concurrently.ts'
import { type AllItems, readAllItems } from './pagination.ts'
import type { RestrictedSession } from './restricted-session.ts'

/** Maximum concurrent requests of one fan-out over accounts. */
export const accountConcurrency = 8

/**
 * An account of a tree, as results show it. `is_active` is present only if the account is disabled.
 */
export interface AccountInTree {
  readonly id: string
  readonly name?: string
  readonly is_active?: false
}

/** An account and its descendants, level by level in the platform's order. */
export interface AccountTree {
  /** All accounts that were read. The first is the root. */
  readonly accounts: readonly AccountInTree[]
  /** Accounts whose subaccounts could not be read. */
  readonly failed: readonly { readonly account: AccountInTree; readonly error: ApiError }[]
  /** True if there are more accounts than were read, or may be. */
  readonly hasMore: boolean
}

interface TreeOptions {
  readonly session: RestrictedSession
  readonly signal?: AbortSignal | undefined
  /** Maximum accounts of the tree. */
  readonly max: number
}

/**
 * Reads an account's descendants at every depth, because the platform's list has only direct
 * subaccounts [R]. Includes disabled accounts, because their agents, numbers and calls still exist.
 */
export async function readAccountTree(root: Account, options: TreeOptions): Promise<AccountTree> {
  const { max } = options
  const failed: { account: AccountInTree; error: ApiError }[] = []
  const known = new Map([[root.id, accountInTree(root)]])
  let hasMore = false
  let level = [...known.values()]
  while (level.length > 0 && known.size < max) {
    const below = await mapConcurrently(level, accountConcurrency, async (account) => {
      try {
        return await subaccountsOf(account.id, options)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        failed.push({ account, error })
        return { items: [], isAll: true }
      }
    })
    const subaccounts = below.flatMap(({ items }) => items)
    // A known account is not read again, so a cycle ends.
    const found = new Map(subaccounts.map((one) => [one.id, accountInTree(one)]))
    level = [...found.values()].filter(({ id }) => !known.has(id))
    hasMore ||= known.size + level.length > max || below.some(({ isAll }) => !isAll)
    for (const account of level.slice(0, max - known.size)) known.set(account.id, account)
  }
  return { accounts: [...known.values()], failed, hasMore: hasMore || level.length > 0 }
}

/** Reads all direct subaccounts of an account. Throws ApiError. */
async function subaccountsOf(
  account_id: string,
  { session, signal, max }: TreeOptions,
): Promise<AllItems<Account>> {
  const params = { account_id }
  return readAllItems(
    (query) => session.client.call(routes.accounts.listSubaccounts, { params, query }, signal),
    { isEnough: (_, known) => known > max },
  )
}

const accountInTree = ({ id, name, is_active }: Account): AccountInTree => ({
  id,
  ...(name && { name }),
  ...(is_active === false && { is_active }),
})
