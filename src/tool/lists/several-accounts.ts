import * as z from 'zod'
import type { Account } from '../../contract/account.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { Client } from '../../platform/client.ts'
import { mapConcurrently } from '../../platform/concurrency.ts'
import { ApiError, failureText } from '../../platform/failure.ts'
import { accountIn } from '../../platform/sessions/account.ts'
import {
  type AccountInTree,
  type AccountTree,
  accountConcurrency,
  readAccountTree,
} from '../../platform/sessions/complete-lists.ts'
import type { RestrictedSession } from '../../platform/sessions/restricted-session.ts'
import { requestMs, withTimeLimit } from '../../platform/time-limit.ts'
import type { Run } from '../tool.ts'
import { itemId, type ListItem, type ListReply, type ListRoute } from './list-view.ts'

/** The account limit of a list, or of a search for agents to change. */
export const maxAccounts = 100

/** Most items that are read of an account at a time. */
const maxPerPage = 100

const AccountOfItem = z.looseObject({ id: z.string(), name: z.string().optional() })

/** The fields that only a list of several accounts has. */
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

/** Why only the account itself can be listed; `undefined`: its subaccounts can be, too. */
export function whyNoSubaccounts({ pinnedAccount, mayRead }: RestrictedSession) {
  if (pinnedAccount !== undefined) {
    return 'This server acts on one account only: subaccounts are not in the list.'
  }
  if (mayRead(routes.accounts.listSubaccounts)) return undefined
  return 'list_subaccounts is not exposed here, so subaccounts are not in the list.'
}

interface BranchesRun extends TreeRun {
  /** Whether the list is of the account alone. */
  readonly of: 'account' | 'account and subaccounts'
  readonly filters: RouteRequest['query']
  readonly perPage: number
}

/**
 * Calls `work` with a branch for each account, whose requests end when the time is over. Throws
 * ApiError.
 */
export function withBranches<T>(
  route: ListRoute,
  { of, request, restricted: session, signal: caller, answerBy, filters, perPage }: BranchesRun,
  work: (branches: AccountBranch[], tree: AccountTree) => Promise<T>,
): Promise<T> {
  const msLeft = Math.min(answerBy - performance.now(), requestMs)
  return withTimeLimit(msLeft, caller, async (signal) => {
    const tree =
      of === 'account'
        ? { accounts: [{ id: accountIn(request) }], failed: [], hasMore: false }
        : await readAccountTree(await rootAccount(request, session, signal), {
            ...{ session, signal },
            max: maxAccounts,
          })
    const options = {
      ...{ route, filters, signal },
      client: session.client,
      perPage: Math.min(perPage, maxPerPage),
    }
    return work(
      tree.accounts.map((account) => new AccountBranch(account, options)),
      tree,
    )
  })
}

/** The account of the request with its name, if the name can be read. Throws ApiError. */
export async function rootAccount(
  request: RouteRequest,
  session: RestrictedSession,
  signal: AbortSignal,
): Promise<Account> {
  const named = accountIn(request)
  const ownId = await session.ownAccountId()
  const id = named === 'me' ? ownId : named
  const account =
    id === ownId
      ? session.cache.read(routes.accounts.current, { params: {}, query: {} }, 'account')
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

/** Whether the list of one account was read. */
type BranchState = Pick<AccountBranch, 'account' | 'hasRead'> & {
  readonly error?: ApiError | undefined
}

/**
 * The accounts that could not be read, by reason. Throws ApiError if there is no other, and if the
 * caller gave up.
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

/** The caller has not cancelled, so a cancelled request is one for which there was no time left. */
const reasonOf = ({ failure }: ApiError) =>
  failure.kind === 'cancelled' ? 'not read in time' : failureText(failure)

/** How many match in all accounts; `null` if one does not say. */
export function totalOf(branches: readonly AccountBranch[]): number | null {
  let total = 0
  for (const branch of branches) {
    if (branch.total === undefined) return null
    total += branch.total
  }
  return total
}

/** What a list that was collected says about its being complete. */
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
interface MergedItems {
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

interface BranchOptions {
  readonly route: ListRoute
  /** The filters, without `limit` and `offset`. */
  readonly filters: RouteRequest['query']
  readonly client: Client
  readonly signal: AbortSignal | undefined
  /** How many items of a branch are read at a time. */
  readonly perPage: number
}

/** The list of one account, read page by page as its items are taken. */
class AccountBranch {
  readonly account: AccountInTree
  /** Why it could not be read (further). */
  error: ApiError | undefined
  /** At least one page was read. */
  hasRead = false
  /** The platform ignored `offset` and gave items again: there are more that it does not give. */
  isCut = false
  readonly #options: BranchOptions
  readonly #seen = new Set<string>()
  #items: ListItem[] = []
  #taken = 0
  #count: number | undefined
  /** Where the next page begins; `undefined`: there is none. */
  #next: number | undefined = 0

  constructor(account: AccountInTree, options: BranchOptions) {
    this.account = account
    this.#options = options
  }

  /** The next item, where one was read and not taken. */
  get head(): ListItem | undefined {
    return this.#items[this.#taken]
  }

  /** A page has to be read before it is known what comes next. */
  get needsPage(): boolean {
    return this.head === undefined && this.#next !== undefined
  }

  /** How many match; `undefined`: it is not known. */
  get total(): number | undefined {
    if (this.error) return undefined
    return this.#next === undefined && !this.isCut ? this.#seen.size : this.#count
  }

  take(): ListItem | undefined {
    const item = this.head
    if (item) this.#taken++
    return item
  }

  /** Reads the next page. A failure ends the branch: what was read before it stays. */
  async readPage(): Promise<void> {
    const { route, filters, client, signal, perPage } = this.#options
    const offset = this.#next ?? 0
    const query = { ...filters, limit: perPage, offset }
    try {
      const request = { params: { account_id: this.account.id }, query }
      // The client parses replies with the route's own schema, which is that of a page.
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
    // Items added since the last page was read push its last items onto this one.
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
