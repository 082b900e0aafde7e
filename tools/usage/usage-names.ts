import { routes } from '../../src/contract/routes.ts'
import { ApiError, failureText } from '../../src/platform/failure.ts'
import { mapConcurrently } from '../../src/platform/map-concurrently.ts'
import { accountIn, accountInUse } from '../../src/platform/sessions/account.ts'
import { type AccountInTree, readAccountTree } from '../../src/platform/sessions/account-tree.ts'
import { readAllItems } from '../../src/platform/sessions/pagination.ts'
import { withTimeLimit } from '../../src/platform/time-limit.ts'
import { counted } from '../../src/text/labels.ts'
import type { UsageNames } from '../../src/tool/results/usage-report.ts'
import type { Run } from '../../src/tool/tool.ts'

/** Ids whose names are looked up. */
export interface UsageIds {
  readonly agent: ReadonlySet<string>
  readonly subaccount: ReadonlySet<string>
}

/** Time limit for looking up names, ms. Afterwards, usage is shown without the missing names. */
const lookUpTimeoutMs = 10_000
/** Maximum number of subaccounts whose agents are listed. */
const maxSubaccounts = 50

/** Maximum number of lists that are read at the same time. */
const concurrency = 5
/** Maximum number of accounts in a tree that is read for names. */
const maxAccounts = 100

/**
 * Reads names for the ids in usage, as far as exposed tools can read them, also of archived agents
 * and of agents in subaccounts. Items without a readable name keep their id. Throws only if
 * cancelled.
 */
export async function readUsageNames(
  wanted: UsageIds,
  { request, restricted: session, signal: caller }: Pick<Run, 'request' | 'restricted' | 'signal'>,
): Promise<UsageNames> {
  const names = { agent: new Map<string, string>(), subaccount: new Map<string, string>() }
  const missing = (kind: keyof UsageIds) => [...wanted[kind]].filter((id) => !names[kind].has(id))
  const isMissing = (kind: keyof UsageIds) => missing(kind).length > 0
  const account = accountIn(request)
  const failed: ApiError[] = []
  /** Returns `undefined` after a failure of the platform, so that the other look-ups go on. */
  const attempt = <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (!(error instanceof ApiError) || caller?.aborted) throw error
      failed.push(error)
      return undefined
    })

  const readAgents = async (account_id: string, signal: AbortSignal) => {
    const { items } = await readAllItems((page) => {
      const asked = { params: { account_id }, query: { ...page, include_archived: true } }
      return session.client.call(routes.agents.list, asked, signal)
    })
    for (const { id, name } of items) if (name) names.agent.set(id, name)
  }
  /** Looks up the name of the requested account. */
  const readAccount = async (signal: AbortSignal) => {
    const params = { account_id: 'me', subaccount_id: account }
    const { id, name } =
      account === 'me' || account === session.pinnedAccount
        ? await accountInUse(session, signal)
        : await session.client.call(routes.accounts.getSubaccount, { params, query: {} }, signal)
    if (name) names.subaccount.set(id, name)
  }
  const readSubaccounts = async (signal: AbortSignal): Promise<readonly AccountInTree[]> => {
    const params = { account_id: account }
    const { items } = await readAllItems((query) =>
      session.client.call(routes.accounts.listSubaccounts, { params, query }, signal),
    )
    return items.map(({ id, name }) => ({ id, ...(name && { name }) }))
  }
  const readTree = async (signal: AbortSignal): Promise<readonly AccountInTree[]> => {
    const tree = await readAccountTree({ id: account }, { session, signal, max: maxAccounts })
    failed.push(...tree.failed.slice(0, 1).map(({ error }) => error))
    return tree.accounts
  }

  const lookUps = withTimeLimit(lookUpTimeoutMs, caller, async (signal) => {
    await Promise.all([
      isMissing('agent') && attempt(readAgents(account, signal)),
      wanted.subaccount.size > 0 && attempt(readAccount(signal)),
    ])
    const known = new Set([account])
    // Most accounts are direct subaccounts, so the whole tree is read only if those are not enough.
    for (const read of [readSubaccounts, readTree]) {
      if (!isMissing('agent') && !isMissing('subaccount')) return
      const found = (await attempt(read(signal))) ?? []
      const below = found.filter(({ id }) => !known.has(id))
      for (const { id, name } of below) {
        known.add(id)
        if (name) names.subaccount.set(id, name)
      }
      // Subaccounts that have usage come first.
      const used = below.filter(({ id }) => wanted.subaccount.has(id))
      const ordered = [...new Set([...used, ...below])].slice(0, maxSubaccounts)
      await mapConcurrently(ordered, concurrency, async ({ id }) => {
        if (isMissing('agent')) await attempt(readAgents(id, signal))
      })
    }
  })
  await attempt(lookUps)
  const count = missing('agent').length + missing('subaccount').length
  const why = failed[0] ? `: ${failureText(failed[0].failure)}` : ''
  return {
    ...names,
    note: count > 0 ? `No name was found for ${counted(count, 'id')}${why}.` : undefined,
  }
}
