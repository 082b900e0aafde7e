import type { CollectedItems, ListItem, ListRoute } from '../../views/list.ts'
import { type MergeOrder, mergedItems, type OwnedItem } from './merged-list.ts'
import {
  failedAccounts,
  listNotes,
  type TreeRun,
  totalOf,
  withBranches,
} from './several-accounts.ts'

/**
 * A page of the lists of an account and its subaccounts, as one. Accounts that cannot be read, also
 * because the time is over, are named. Throws ApiError if none of them could be read, and if the caller
 * gave up.
 */
export function readSubaccountList(
  route: ListRoute,
  run: TreeRun,
  order: MergeOrder,
): Promise<CollectedItems> {
  const { limit: given, offset, ...filters } = run.request.query
  const [limit, from] = [Number(given), Number(offset ?? 0)]
  const reading = { ...run, of: 'account and subaccounts', filters, perPage: from + limit } as const
  return withBranches(route, reading, async (branches, tree) => {
    const { items, hasMore } = await mergedItems(branches, { from, to: from + limit, order })
    const failed = failedAccounts(branches, tree, run)
    return {
      items: items.map(withAccount),
      total: failed.length > 0 || tree.hasMore ? null : totalOf(branches),
      nextOffset: hasMore ? from + items.length : null,
      note: listNotes(branches, tree, { failed, from }),
      rest: failed.length > 0 ? { failed_accounts: failed } : {},
    }
  })
}

export const withAccount = ({ item, account }: OwnedItem): ListItem => ({ ...item, account })
