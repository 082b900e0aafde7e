import { routes } from '../../src/contract/routes.ts'
import { mapConcurrently } from '../../src/platform/concurrency.ts'
import { ApiError, failureText } from '../../src/platform/failure.ts'
import { accountIn, accountInUse } from '../../src/platform/sessions/account.ts'
import {
  type AccountInTree,
  readAccountTree,
  readAllItems,
} from '../../src/platform/sessions/complete-lists.ts'
import { withTimeLimit } from '../../src/platform/time-limit.ts'
import { counted } from '../../src/text/dialog-text.ts'
import type { UsageNames } from '../../src/tool/results/usage-report.ts'
import type { Run } from '../../src/tool/tool.ts'

export interface UsageIds {
  readonly agent: ReadonlySet<string>
  readonly subaccount: ReadonlySet<string>
}

type NamesRun = Pick<Run, 'request' | 'restricted' | 'signal'>

/** Timeout of the search for names, ms. After the timeout, usage is shown without names. */
const longestLookMs = 10_000
/** Bound for the subaccounts whose agents are listed, and the concurrency. */
const maxSubaccounts = 50
const concurrency = 5
/** Bound for the accounts of a tree that is read for names. */
const maxAccounts = 100

/**
 * Reads the names that exposed tools can read: usage has ids only, also of agents in subaccounts
 * and of archived ones. Items without a readable name keep their id. Throws only if cancelled.
 */
export async function readUsageNames(wanted: UsageIds, run: NamesRun): Promise<UsageNames> {
  const names = { agent: new Map<string, string>(), subaccount: new Map<string, string>() }
  const failed: ApiError[] = []
  const look = withTimeLimit(longestLookMs, run.signal, (signal) =>
    readNames(wanted, names, { ...run, signal, failed }),
  )
  await noteFailure(look, { ...run, failed })
  const { agent, subaccount } = missing(wanted, names)
  return { ...names, note: missingNote(agent.length + subaccount.length, failed[0]) }
}

interface Names {
  readonly agent: Map<string, string>
  readonly subaccount: Map<string, string>
}

interface ReadRun extends NamesRun {
  /** Failures of the platform, after which reading goes on. */
  readonly failed: ApiError[]
}

/** Notes a failure of the platform. Throws if cancelled. */
async function noteFailure(work: Promise<void>, { signal, failed }: ReadRun): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof ApiError) || signal?.aborted) throw error
    failed.push(error)
  }
}

async function readNames(wanted: UsageIds, names: Names, run: ReadRun): Promise<void> {
  const account = accountIn(run.request)
  const isAgentMissing = () => missing(wanted, names).agent.length > 0
  await Promise.all([
    isAgentMissing() ? noteFailure(readAgents(account, names, run), run) : undefined,
    wanted.subaccount.size > 0 ? noteFailure(readAccount(names, run), run) : undefined,
  ])
  const isMissing = () => isAgentMissing() || missing(wanted, names).subaccount.length > 0
  const known = new Set([account])
  // Most accounts are direct subaccounts; reads the whole tree only if these are not enough.
  for (const read of [readSubaccounts, readTree]) {
    if (!isMissing()) return
    const found: AccountInTree[] = []
    await noteFailure(read(found, run), run)
    const below = found.filter(({ id }) => !known.has(id))
    for (const { id, name } of below) {
      known.add(id)
      if (name) names.subaccount.set(id, name)
    }
    // Subaccounts with known usage come first.
    const used = below.filter(({ id }) => wanted.subaccount.has(id))
    const ordered = [...new Set([...used, ...below])].slice(0, maxSubaccounts)
    await mapConcurrently(ordered, concurrency, async ({ id }) => {
      if (isAgentMissing()) await noteFailure(readAgents(id, names, run), run)
    })
  }
}

const missing = (wanted: UsageIds, names: Names) => ({
  agent: [...wanted.agent].filter((id) => !names.agent.has(id)),
  subaccount: [...wanted.subaccount].filter((id) => !names.subaccount.has(id)),
})

function missingNote(count: number, failure: ApiError | undefined): string | undefined {
  if (count === 0) return undefined
  const why = failure ? `: ${failureText(failure.failure)}` : ''
  return `No name was found for ${counted(count, 'id')}${why}.`
}

async function readAgents(
  account_id: string,
  { agent }: Names,
  { restricted, signal }: NamesRun,
): Promise<void> {
  const { items } = await readAllItems((page) => {
    const asked = { params: { account_id }, query: { ...page, include_archived: true } }
    return restricted.client.call(routes.agents.list, asked, signal)
  })
  for (const { id, name } of items) if (name) agent.set(id, name)
}

/** Names the requested account. */
async function readAccount(
  { subaccount }: Names,
  { request, restricted, signal }: NamesRun,
): Promise<void> {
  const asked = accountIn(request)
  const params = { account_id: 'me', subaccount_id: asked }
  const { id, name } =
    asked === 'me' || asked === restricted.pinnedAccount
      ? await accountInUse(restricted, signal)
      : await restricted.client.call(routes.accounts.getSubaccount, { params, query: {} }, signal)
  if (name) subaccount.set(id, name)
}

/** The direct subaccounts of the account. */
async function readSubaccounts(
  found: AccountInTree[],
  { request, restricted, signal }: NamesRun,
): Promise<void> {
  const params = { account_id: accountIn(request) }
  const { items } = await readAllItems((query) =>
    restricted.client.call(routes.accounts.listSubaccounts, { params, query }, signal),
  )
  found.push(...items.map(({ id, name }) => ({ id, ...(name && { name }) })))
}

/** The subaccounts at every depth. */
async function readTree(
  found: AccountInTree[],
  { request, restricted: session, signal }: NamesRun,
): Promise<void> {
  const root = { id: accountIn(request) }
  const { accounts, failed } = await readAccountTree(root, { session, signal, max: maxAccounts })
  found.push(...accounts)
  const [failure] = failed
  if (failure) throw failure.error
}
