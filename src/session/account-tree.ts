import { ApiError } from '../api/failure.ts'
import { mapAtOnce } from '../api/map-at-once.ts'
import type { Account } from '../contract/account.ts'
import { routes } from '../contract/routes.ts'
import { type AllItems, readAllItems } from './read-all-items.ts'
import type { RestrictedSession } from './restricted-session.ts'

/** How many requests of one fan-out over accounts are under way at once. */
export const accountsAtOnce = 8

/** An account of a tree, as results name it; `is_active` is there for a disabled one. */
export interface AccountInTree {
  readonly id: string
  readonly name?: string
  readonly is_active?: false
}

/** An account and those below it, level by level, each level in the platform's order. */
export interface AccountTree {
  /** The first is the account itself. */
  readonly accounts: readonly AccountInTree[]
  /** Accounts whose subaccounts could not be read. */
  readonly failed: readonly { readonly account: AccountInTree; readonly error: ApiError }[]
  /** There are, or may be, more accounts than were read. */
  readonly hasMore: boolean
}

interface TreeReading {
  readonly session: RestrictedSession
  readonly signal?: AbortSignal | undefined
  /** Most accounts of the tree. */
  readonly most: number
}

/**
 * Reads the accounts below one, at every depth: a list of subaccounts holds only direct ones [R].
 * Disabled ones are in it: their agents, numbers and calls still exist.
 */
export async function readAccountTree(root: Account, reading: TreeReading): Promise<AccountTree> {
  const { most } = reading
  const failed: { account: AccountInTree; error: ApiError }[] = []
  const known = new Map([[root.id, accountInTree(root)]])
  let hasMore = false
  let level = [...known.values()]
  while (level.length > 0 && known.size < most) {
    const below = await mapAtOnce(level, accountsAtOnce, async (account) => {
      try {
        return await subaccountsOf(account.id, reading)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        failed.push({ account, error })
        return { items: [], isAll: true }
      }
    })
    const subaccounts = below.flatMap(({ items }) => items)
    // An account that was seen before is not followed again, so a circle ends.
    const found = new Map(subaccounts.map((one) => [one.id, accountInTree(one)]))
    level = [...found.values()].filter(({ id }) => !known.has(id))
    hasMore ||= known.size + level.length > most || below.some(({ isAll }) => !isAll)
    for (const account of level.slice(0, most - known.size)) known.set(account.id, account)
  }
  return { accounts: [...known.values()], failed, hasMore: hasMore || level.length > 0 }
}

/** The direct subaccounts of an account, from all pages. Throws ApiError. */
async function subaccountsOf(
  account_id: string,
  { session, signal, most }: TreeReading,
): Promise<AllItems<Account>> {
  const params = { account_id }
  return readAllItems(
    (query) => session.client.call(routes.accounts.listSubaccounts, { params, query }, signal),
    { isEnough: (_, known) => known > most },
  )
}

const accountInTree = ({ id, name, is_active }: Account): AccountInTree => ({
  id,
  ...(name && { name }),
  ...(is_active === false && { is_active }),
})
