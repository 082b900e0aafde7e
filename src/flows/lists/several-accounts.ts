import * as z from 'zod'
import { ApiError } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import { withTimeLimit } from '../../api/time-limit.ts'
import { requestMs } from '../../calls/placing-context.ts'
import type { Account } from '../../contract/account.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { type AccountTree, readAccountTree } from '../../session/account-tree.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import type { ListRoute } from '../../views/list.ts'
import { AccountBranch } from './account-branch.ts'

/** Most accounts that one list is made of, or one change looks for agents in. */
export const mostAccounts = 100

/** Most items that are read of an account at a time. */
const mostPerPage = 100

/** What a list of several accounts has besides that of one. */
export const severalAccountsShape = {
  item: {
    account: z
      .looseObject({ id: z.string(), name: z.string().optional() })
      .describe('Account it belongs to; is_active false: disabled.'),
  },
  result: {
    failed_accounts: z
      .array(z.looseObject({ reason: z.string(), accounts: z.array(z.looseObject({})) }))
      .optional()
      .describe('Accounts that are not in the list, or not whole, and why.'),
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

export interface BranchesRun extends TreeRun {
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
            most: mostAccounts,
          })
    const reading = {
      ...{ route, filters, signal },
      client: session.client,
      perPage: Math.min(perPage, mostPerPage),
    }
    return work(
      tree.accounts.map((account) => new AccountBranch(account, reading)),
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
  const reading =
    id === ownId
      ? session.cache.read(routes.accounts.current, { params: {}, query: {} }, 'account')
      : session.client.call(
          routes.accounts.getSubaccount,
          { params: { account_id: ownId, subaccount_id: id }, query: {} },
          signal,
        )
  return reading.catch((error: unknown) => {
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
