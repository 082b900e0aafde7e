import { ApiError } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import { withTimeLimit } from '../../api/time-limit.ts'
import type { Account } from '../../contract/account.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountIn, accountInUse } from '../../session/account.ts'
import { readAllItems } from '../read-all-items.ts'

/** Ids that usage is grouped by. */
export interface UsageIds {
  readonly agent: ReadonlySet<string>
  readonly subaccount: ReadonlySet<string>
}

/** Names of agents and accounts by id. */
export interface UsageNames {
  readonly agent: ReadonlyMap<string, string>
  readonly subaccount: ReadonlyMap<string, string>
  /** How many ids have no name here, and why. */
  readonly note: string | undefined
}

type NamesRun = Pick<Run, 'request' | 'restricted' | 'signal'>

/** How long names are looked for, ms: usage is shown without them then. */
const longestLookMs = 10_000
/** Subaccounts whose agents are listed, and how many at once. */
const mostSubaccounts = 50
const atOnce = 5

/**
 * Reads the names, as far as exposed tools can read them: usage has ids only, also of agents in
 * subaccounts and of archived ones. What has no name keeps its id. Throws only if cancelled.
 */
export async function readUsageNames(wanted: UsageIds, run: NamesRun): Promise<UsageNames> {
  const names = { agent: new Map<string, string>(), subaccount: new Map<string, string>() }
  const failed: ApiError[] = []
  const noting = async (signal: AbortSignal | undefined, read: Promise<void>) => {
    try {
      await read
    } catch (error) {
      if (!(error instanceof ApiError) || signal?.aborted) throw error
      failed.push(error)
    }
  }
  const look = withTimeLimit(longestLookMs, run.signal, (signal) =>
    readNames(wanted, names, {
      run: { ...run, signal },
      tolerating: (read) => noting(signal, read),
    }),
  )
  await noting(run.signal, look)
  const { agent, subaccount } = missing(wanted, names)
  return { ...names, note: missingNote(agent.length + subaccount.length, failed[0]) }
}

interface Names {
  readonly agent: Map<string, string>
  readonly subaccount: Map<string, string>
}

interface Reading {
  readonly run: NamesRun
  /** Notes a failure of the platform, and goes on. */
  readonly tolerating: (read: Promise<void>) => Promise<void>
}

async function readNames(wanted: UsageIds, names: Names, reading: Reading): Promise<void> {
  const { run, tolerating } = reading
  const account = accountIn(run.request)
  const isAgentMissing = () => missing(wanted, names).agent.length > 0
  await Promise.all([
    isAgentMissing() ? tolerating(readAgents(account, names, run)) : undefined,
    wanted.subaccount.size > 0 ? tolerating(readAccount(names, run)) : undefined,
  ])
  if (!isAgentMissing() && missing(wanted, names).subaccount.length === 0) return
  const below: Account[] = []
  await tolerating(readSubaccounts(names, run).then((found) => void below.push(...found)))
  // Those with usage come first, where that is known.
  const [used, others] = [true, false].map((isUsed) =>
    below.filter(({ id }) => wanted.subaccount.has(id) === isUsed),
  )
  const ordered = [...(used ?? []), ...(others ?? [])].slice(0, mostSubaccounts)
  for (let at = 0; at < ordered.length && isAgentMissing(); at += atOnce) {
    const some = ordered.slice(at, at + atOnce)
    await Promise.all(some.map(({ id }) => tolerating(readAgents(id, names, run))))
  }
}

const missing = (wanted: UsageIds, names: Names) => ({
  agent: [...wanted.agent].filter((id) => !names.agent.has(id)),
  subaccount: [...wanted.subaccount].filter((id) => !names.subaccount.has(id)),
})

function missingNote(count: number, failure: ApiError | undefined): string | undefined {
  if (count === 0) return undefined
  const why = failure ? `: ${failureText(failure.failure)}` : ''
  return `No name was found for ${count} ${count === 1 ? 'id' : 'ids'}${why}.`
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

/** The account that usage was asked of. */
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

async function readSubaccounts(
  { subaccount }: Names,
  { request, restricted, signal }: NamesRun,
): Promise<readonly Account[]> {
  const params = { account_id: accountIn(request) }
  const { items } = await readAllItems((query) =>
    restricted.client.call(routes.accounts.listSubaccounts, { params, query }, signal),
  )
  for (const { id, name } of items) if (name) subaccount.set(id, name)
  return items
}
