import { ApiError } from '../../platform/failure.ts'
import { mapConcurrently } from '../../platform/map-concurrently.ts'
import { driftOf } from '../../platform/reply-drift.ts'
import { accountIn } from '../../platform/sessions/account.ts'
import { type AccountInTree, accountConcurrency } from '../../platform/sessions/account-tree.ts'
import { readAllItems } from '../../platform/sessions/pagination.ts'
import { requestMs, withTimeLimit } from '../../platform/time-limit.ts'
import { shownName } from '../../text/dialog-text.ts'
import { joinedUpTo, nameWithId } from '../../text/labels.ts'
import { badArgument, type Refused } from '../refused.ts'
import type { Run } from '../tool.ts'
import type { ListRoute } from './list-result.ts'
import {
  type FailedAccounts,
  failedAccounts,
  maxAccounts,
  readTree,
  whyNoSubaccounts,
} from './several-accounts.ts'

/*
 * Reads complete lists of an account, or of the account and its subaccounts. They serve filters
 * that the platform does not support, and the search for items that a tool call changes.
 */

export type AccountListsRun = Pick<
  Run,
  'request' | 'restricted' | 'session' | 'signal' | 'answerBy'
>

/** An item, and its account if several accounts are read. */
export interface Owned<T> {
  readonly item: T
  readonly account?: AccountInTree
}

export interface OwnedItems<T> {
  readonly owned: readonly Owned<T>[]
  /** Paths that the platform shows in an undocumented form, such as `items.*.tags`. */
  readonly drift: readonly string[]
  /** Accounts that could not be read. `owned` has the items of all others. */
  readonly failed: readonly FailedAccounts[]
  /** False: an account has more items than were read. */
  readonly isAll: boolean
}

/** The items that match. `notes`: sentences about the lists that were searched. */
export interface Matching<T> extends OwnedItems<T> {
  readonly notes: readonly string[]
}

/** Access to the lists of one account, or of the account and its subaccounts. */
export interface AccountLists {
  /**
   * Reads a list of objects with ids, at most 2,000 per account. `T` is the type in the route's
   * reply. Throws ApiError if no account could be read.
   */
  readonly read: <T extends { readonly id: string }>(
    route: ListRoute,
    filters?: object,
  ) => Promise<OwnedItems<T>>
  /** The run of the tool call. Its signal also fires when the time for reads is up. */
  readonly run: AccountListsRun
}

interface ListsOptions {
  readonly isTree: boolean
  /** Share of the remaining time that reads may take. The rest is for changes. */
  readonly share: number
}

/**
 * Calls `work` with the lists of the accounts that the tool call spans. Throws Refused and
 * ApiError.
 */
export function withLists<T>(
  run: AccountListsRun,
  { isTree, share }: ListsOptions,
  work: (lists: AccountLists) => Promise<T>,
): Promise<T> {
  const { request, restricted } = run
  const why = isTree ? whyNoSubaccounts(restricted) : undefined
  if (why) throw badTreeArgument(`nothing was changed. ${why} Call again without it`)
  const msLeft = Math.min((run.answerBy - performance.now()) * share, requestMs)
  return withTimeLimit(msLeft, run.signal, async (signal) => {
    const tree = isTree ? await wholeTree(run, signal) : undefined
    const readOne = async <I extends { readonly id: string }>(
      route: ListRoute,
      account_id: string,
      filters: object,
    ) => {
      const drift: string[] = []
      const list = await readAllItems<I>(async (page) => {
        const asked = { params: { account_id }, query: { ...filters, ...page } }
        const reply = await restricted.client.call(route, asked, signal)
        drift.push(...driftOf(reply).map(({ path }) => path))
        // The client has parsed the reply with the route's schema.
        return reply as { items: I[]; count?: number }
      })
      return { ...list, drift }
    }
    return work({
      run: { ...run, signal },
      async read<I extends { readonly id: string }>(route: ListRoute, filters = {}) {
        if (!tree) {
          const { items, isAll, drift } = await readOne<I>(route, accountIn(request), filters)
          return { owned: items.map((item) => ({ item })), failed: [], isAll, drift }
        }
        const branches = await mapConcurrently(tree.accounts, accountConcurrency, (account) =>
          readOne<I>(route, account.id, filters).then(
            (read) => ({ account, hasRead: true, ...read }),
            (error: unknown) => {
              if (!(error instanceof ApiError)) throw error
              return { account, hasRead: false, items: [], isAll: true, drift: [], error }
            },
          ),
        )
        return {
          owned: branches.flatMap(({ account, items }) => items.map((item) => ({ item, account }))),
          failed: failedAccounts(branches, tree, run),
          isAll: branches.every(({ isAll }) => isAll),
          drift: branches.flatMap(({ drift }) => drift),
        }
      },
    })
  })
}

async function wholeTree({ request, restricted }: AccountListsRun, signal: AbortSignal) {
  const tree = await readTree(request, restricted, signal)
  if (!tree.hasMore) return tree
  throw badTreeArgument(
    `there are more than ${maxAccounts} accounts: give account_id, one branch at a time`,
  )
}

export const badTreeArgument = (message: string): Refused => badArgument(treeArgument, message)

export const treeArgument = 'include_subaccounts'

export const accountLabel = ({ id, name }: AccountInTree) =>
  id === 'me' ? "the key's own account" : nameWithId(name && shownName(name), id)

/** Maximum number of accounts named with a reason. */
const maxNamed = 5

/** Accounts that could not be read, in words: `not read: Hamburg branch (1b9d…): HTTP 500`. */
export const failedInWords = (failed: readonly FailedAccounts[]): string =>
  failed
    .map(
      ({ reason, accounts }) =>
        `not read: ${joinedUpTo(accounts.map(accountLabel), maxNamed)}: ${reason}`,
    )
    .join('; ')

/** Names the accounts that could not be read; empty if all could. */
export const unreadAccounts = (failed: readonly FailedAccounts[]): string =>
  failed.length > 0 ? `as far as they could be read (${failedInWords(failed)})` : ''
