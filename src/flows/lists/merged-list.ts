import { mapAtOnce } from '../../api/map-at-once.ts'
import type { AccountInTree } from '../../session/account-tree.ts'
import { accountsAtOnce } from '../../session/account-tree.ts'
import type { ListItem } from '../../views/list.ts'
import type { AccountBranch } from './account-branch.ts'

/**
 * How the lists of several accounts become one: one account after the other, or the latest item
 * first. Each account's own items stay in the platform's order in both.
 */
export type MergeOrder = 'by_account' | 'latest_first'

/** An item, and whose it is. */
export interface OwnedItem {
  readonly item: ListItem
  readonly account: AccountInTree
}

/** Items `from` to `to` (not included) of the merged lists. */
export interface MergedItems {
  readonly items: readonly OwnedItem[]
  /** There are, or may be, items after these. */
  readonly hasMore: boolean
}

/**
 * The merged list is the same for every page as long as the accounts' lists are, so that pages
 * neither overlap nor leave anything out. What is added or removed between two pages moves the items
 * after it, as it does in the list of one account.
 */
export async function mergedItems(
  branches: readonly AccountBranch[],
  { from, to, order }: { from: number; to: number; order: MergeOrder },
): Promise<MergedItems> {
  const read = (ones: readonly AccountBranch[]) =>
    mapAtOnce(ones, accountsAtOnce, (branch) => branch.readPage())
  await read(branches)
  const items: OwnedItem[] = []
  for (let position = 0; position < to; ) {
    const unread = needed(branches, order)
    if (unread.length > 0) {
      await read(unread)
      continue
    }
    const branch = order === 'latest_first' ? latestOf(branches) : branches.find(hasItem)
    const item = branch?.take()
    if (!branch || !item) break
    if (position >= from) items.push({ item, account: branch.account })
    position++
  }
  return { items, hasMore: branches.some((one) => hasItem(one) || one.needsPage) }
}

const hasItem = ({ head }: AccountBranch) => head !== undefined

/** The branches that have to be read before it is known which item is the next. */
function needed(branches: readonly AccountBranch[], order: MergeOrder): AccountBranch[] {
  if (order === 'latest_first') return branches.filter(({ needsPage }) => needsPage)
  const first = branches.find((one) => hasItem(one) || one.needsPage)
  return first?.needsPage ? [first] : []
}

/** The branch whose next item is the latest; of equal ones the first. */
function latestOf(branches: readonly AccountBranch[]): AccountBranch | undefined {
  let latest: AccountBranch | undefined
  for (const branch of branches) {
    if (branch.head === undefined) continue
    if (!latest?.head || timeOf(branch.head) > timeOf(latest.head)) latest = branch
  }
  return latest
}

/** When an item was created, Unix ms; an item without a time is the oldest. */
function timeOf({ created, started_at, start_timestamp }: ListItem): number {
  const text = [created, started_at, start_timestamp].find((one) => typeof one === 'string')
  const time = Date.parse(String(text))
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
}
