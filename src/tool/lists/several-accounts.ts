import * as z from 'zod'
import type { Account } from '../../contract/account.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { Client } from '../../platform/client.ts'
import { ApiError, failureText } from '../../platform/failure.ts'
import { mapConcurrently } from '../../platform/map-concurrently.ts'
import { accountIn, ownAccount } from '../../platform/sessions/account.ts'
import {
  type AccountInTree,
  type AccountTree,
  accountConcurrency,
  readAccountTree,
} from '../../platform/sessions/account-tree.ts'
import type { RestrictedSession } from '../../platform/sessions/restricted-session.ts'
import { requestMs, withTimeLimit } from '../../platform/time-limit.ts'
import type { Run } from '../tool.ts'
import { itemId, type ListItem, type ListReply, type ListRoute } from './list-result.ts'

/** Maximum number of accounts in a list, or in a search for agents to change. */
export const maxAccounts = 100

/** Maximum page size per account. */
const maxPerPage = 100

const AccountOfItem = z.looseObject({ id: z.string(), name: z.string().optional() })

/** Result fields that only lists of several accounts have. */
export const severalAccountsShape = {
  item: { account: AccountOfItem.describe('Account it belongs to; is_active false: disabled.') },
  result: {
    failed_accounts: z
      .array(z.looseObject({ reason: z.string(), accounts: z.array(z.looseObject({})) }))
      .optional()
      .describe('Accounts that are missing or incomplete here, and why.'),
    account: AccountOfItem.optional().describe('Of all; if it differs, in each.'),
  },
}

export type TreeRun = Pick<Run, 'request' | 'restricted' | 'signal' | 'answerBy'>

/** Reason why subaccounts cannot be listed; `undefined`: they can be. */
export function whyNoSubaccounts({ pinnedAccount, mayRead }: RestrictedSession) {
  if (pinnedAccount !== undefined) {
    return 'This server acts on one account only: subaccounts are not in the list.'
  }
  if (mayRead(routes.accounts.listSubaccounts)) return undefined
  return 'list_subaccounts is not exposed here, so subaccounts are not in the list.'
}

interface BranchesRun extends TreeRun {
  /** Accounts that the list covers. */
  readonly of: 'account' | 'account and subaccounts'
  readonly filters: RouteRequest['query']
  readonly perPage: number
  /**
   * Called with the number of items of a page, but only when the next page is requested: progress
   * must not come right before the result.
   */
  readonly onPage?: ((items: number) => void) | undefined
}

/**
 * Calls `work` with one branch per account: the list of that account. `open` creates branches with
 * other filters. All requests end when time is up. Throws ApiError.
 */
export function withBranches<T>(
  route: ListRoute,
  { of, request, restricted: session, signal: caller, answerBy, filters, ...rest }: BranchesRun,
  work: (
    branches: AccountBranch[],
    tree: AccountTree,
    open: (filters: RouteRequest['query']) => AccountBranch[],
  ) => Promise<T>,
): Promise<T> {
  const msLeft = Math.min(answerBy - performance.now(), requestMs)
  return withTimeLimit(msLeft, caller, async (signal) => {
    const tree =
      of === 'account'
        ? { accounts: [{ id: accountIn(request) }], failed: [], hasMore: false }
        : await readTree(request, session, signal)
    const options = {
      ...{ route, signal, onPage: rest.onPage },
      client: session.client,
      perPage: Math.min(rest.perPage, maxPerPage),
    }
    const open = (wanted: RouteRequest['query']) =>
      tree.accounts.map((account) => new AccountBranch(account, { ...options, filters: wanted }))
    return work(open(filters), tree, open)
  })
}

/** The account of the request and its subaccounts, at most `maxAccounts`. Throws ApiError. */
export async function readTree(
  request: RouteRequest,
  session: RestrictedSession,
  signal: AbortSignal,
): Promise<AccountTree> {
  const root = await rootAccount(request, session, signal)
  return readAccountTree(root, { session, signal, max: maxAccounts })
}

/** The account of the request, with its name if that can be read. Throws ApiError. */
async function rootAccount(
  request: RouteRequest,
  session: RestrictedSession,
  signal: AbortSignal,
): Promise<Account> {
  const named = accountIn(request)
  const ownId = await session.ownAccountId()
  const id = named === 'me' ? ownId : named
  const account =
    id === ownId
      ? ownAccount(session)
      : session.client.call(
          routes.accounts.getSubaccount,
          { params: { account_id: ownId, subaccount_id: id }, query: {} },
          signal,
        )
  return account.catch((error: unknown) => {
    if (error instanceof ApiError) return { id }
    throw error
  })
}

export interface FailedAccounts {
  readonly reason: string
  readonly accounts: AccountTree['accounts']
}

/** State of one account's list: whether a page was read, and the error that ended reading. */
type BranchState = Pick<AccountBranch, 'account' | 'hasRead'> & {
  readonly error?: ApiError | undefined
}

/**
 * Accounts that could not be read, by reason. Throws ApiError if no account could be read, or if
 * the caller cancelled.
 */
export function failedAccounts(
  branches: readonly BranchState[],
  { failed }: AccountTree,
  { signal: caller }: Pick<TreeRun, 'signal'>,
): FailedAccounts[] {
  const errors = branches.flatMap(({ account, error }) => (error ? [{ account, error }] : []))
  const [first] = errors
  const isNothingRead = branches.every(({ error, hasRead }) => error && !hasRead)
  if (first && (caller?.aborted || isNothingRead)) throw first.error
  const reasons = new Map<string, AccountTree['accounts'][number][]>()
  const add = (account: AccountTree['accounts'][number], reason: string) =>
    reasons.set(reason, [...(reasons.get(reason) ?? []), account])
  for (const { account, error } of errors) add(account, reasonOf(error))
  for (const { account, error } of failed) add(account, `its subaccounts: ${reasonOf(error)}`)
  return [...reasons].map(([reason, accounts]) => ({ reason, accounts }))
}

/** The caller has not cancelled, so a cancelled request ran out of time. */
const reasonOf = ({ failure }: ApiError) =>
  failure.kind === 'cancelled' ? 'not read in time' : failureText(failure)

/** Total of all accounts; `null` if one is unknown. */
export function totalOf(branches: readonly AccountBranch[]): number | null {
  let total = 0
  for (const branch of branches) {
    if (branch.total === undefined) return null
    total += branch.total
  }
  return total
}

/** Notes about the completeness of a collected list. */
export function listNotes(
  branches: readonly AccountBranch[],
  { hasMore, accounts }: AccountTree,
  { failed, from }: { failed: readonly FailedAccounts[]; from: number },
): string | undefined {
  const notes = [
    branches.some(({ isCut }) => isCut) &&
      'The platform ignored offset and gave only the first items: narrow the filters.',
    failed.length > 0 && 'Not complete: see failed_accounts.',
    hasMore &&
      `There are more than ${accounts.length} accounts: for the others give the account_id of a subaccount.`,
    from > 0 && 'Items added or removed since the page before may have moved these.',
  ]
  return notes.filter(Boolean).join(' ') || undefined
}

/**
 * Merge order of several accounts' lists: account by account, or latest item first. Both orders
 * keep the platform's order within an account.
 */
export type MergeOrder = 'by_account' | 'latest_first'

/** An item with its account. */
export interface OwnedItem {
  readonly item: ListItem
  readonly account: AccountInTree
}

/** How much of a list was read. */
export type ListExtent = 'all' | 'part' | 'none'

/** Items `from` to `to` (exclusive) of the merged lists. */
interface MergedItems {
  readonly items: readonly OwnedItem[]
  /** True if more items may follow. */
  readonly hasMore: boolean
}

/**
 * Merges the accounts' lists in a fixed order: while the lists are unchanged, pages neither overlap
 * nor skip items. An item added or removed between two pages shifts all later items, as in the list
 * of one account.
 */
export async function mergedItems(
  branches: readonly AccountBranch[],
  { from, to, order }: { from: number; to: number; order: MergeOrder },
): Promise<MergedItems> {
  const read = (ones: readonly AccountBranch[]) =>
    mapConcurrently(ones, accountConcurrency, (branch) => branch.readPage())
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

/** Branches that must be read before the next item is known. */
function needed(branches: readonly AccountBranch[], order: MergeOrder): AccountBranch[] {
  if (order === 'latest_first') return branches.filter(({ needsPage }) => needsPage)
  const first = branches.find((one) => hasItem(one) || one.needsPage)
  return first?.needsPage ? [first] : []
}

/** The branch with the latest next item; the first branch, if several are equally late. */
function latestOf(branches: readonly AccountBranch[]): AccountBranch | undefined {
  let latest: AccountBranch | undefined
  for (const branch of branches) {
    if (branch.head === undefined) continue
    if (!latest?.head || timeOf(branch.head) > timeOf(latest.head)) latest = branch
  }
  return latest
}

/** Creation time of an item, Unix ms. An item without a time counts as the oldest. */
function timeOf({ created, started_at, start_timestamp }: ListItem): number {
  const text = [created, started_at, start_timestamp].find((one) => typeof one === 'string')
  const time = Date.parse(String(text))
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
}

interface BranchOptions {
  readonly route: ListRoute
  /** The filters, without `limit` and `offset`. */
  readonly filters: RouteRequest['query']
  readonly client: Client
  readonly signal: AbortSignal | undefined
  /** Page size per branch. */
  readonly perPage: number
  readonly onPage: BranchesRun['onPage']
}

/** The list of one account, read page by page as its items are taken. */
export class AccountBranch {
  readonly account: AccountInTree
  /** Error that ended the reading. */
  error: ApiError | undefined
  /** True after the first page. */
  hasRead = false
  /** True if the platform ignored `offset` and repeated items: later items cannot be reached. */
  isCut = false
  readonly #options: BranchOptions
  readonly #seen = new Set<string>()
  #items: ListItem[] = []
  #taken = 0
  #count: number | undefined
  /** Offset of the next page; `undefined`: there is none. */
  #next: number | undefined = 0

  constructor(account: AccountInTree, options: BranchOptions) {
    this.account = account
    this.#options = options
  }

  /** The next item that was read but not yet taken. */
  get head(): ListItem | undefined {
    return this.#items[this.#taken]
  }

  /** True if a page must be read before the next item is known. */
  get needsPage(): boolean {
    return this.head === undefined && this.#next !== undefined
  }

  /** How much of the list was read: all, a part, or nothing. */
  get extent(): ListExtent {
    if (this.error && !this.hasRead) return 'none'
    return this.error || this.isCut || this.head || this.needsPage ? 'part' : 'all'
  }

  /** Number of matches; `undefined`: unknown. */
  get total(): number | undefined {
    if (this.error) return undefined
    return this.#next === undefined && !this.isCut ? this.#seen.size : this.#count
  }

  take(): ListItem | undefined {
    const item = this.head
    if (item) this.#taken++
    return item
  }

  /** Reads the next page. A failure ends the branch, and keeps the items read so far. */
  async readPage(): Promise<void> {
    const { route, filters, client, signal, perPage } = this.#options
    const offset = this.#next ?? 0
    if (this.hasRead) this.#options.onPage?.(this.#items.length)
    const query = { ...filters, limit: perPage, offset }
    try {
      const request = { params: { account_id: this.account.id }, query }
      // The client has parsed the reply with the route's schema, which is a page.
      this.#add((await client.call(route, request, signal)) as ListReply, offset)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.error = error
      this.#next = undefined
    }
  }

  #add({ items, count }: ListReply, offset: number): void {
    const before = this.#seen.size
    this.hasRead = true
    // Drops items that were read before: an addition to the list pushes items of the last page onto
    // this page.
    this.#items = items.filter((item) => {
      const isNew = !this.#seen.has(itemId(item))
      this.#seen.add(itemId(item))
      return isNew
    })
    this.#taken = 0
    this.#count = count
    const end = offset + items.length
    const isOver = count === undefined ? items.length < this.#options.perPage : end >= count
    this.isCut = !isOver && this.#seen.size === before
    this.#next = isOver || this.isCut ? undefined : end
  }
}
