import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { ApiError, type Failure, ignoreApiError, isNotFound } from '../../platform/failure.ts'
import { mapConcurrently } from '../../platform/map-concurrently.ts'
import { accountIn } from '../../platform/sessions/account.ts'
import {
  type AccountInTree,
  accountConcurrency,
  readAccountTree,
} from '../../platform/sessions/account-tree.ts'
import type { RestrictedSession } from '../../platform/sessions/restricted-session.ts'
import { resultOr, withTimeLimit } from '../../platform/time-limit.ts'
import { isUuid } from '../../text/canonical-id.ts'
import { closestItems, itemLabel, type NamedItem } from '../../text/closest-match.ts'
import { nameWithId } from '../../text/labels.ts'
import { accountReader } from '../account-reader.ts'
import { callFixes } from '../checks/readiness.ts'
import { whyNoSubaccounts } from '../lists/several-accounts.ts'
import { argumentOf } from '../refused.ts'
import { agents, kindOf, type ReferenceKind, referencesOf } from './kinds.ts'

/** Page size of the lists that are read to find the closest items. */
const maxCompared = 100

/** Time limit for finding the closest items, ms. The caller waits for the error. */
const hintTimeoutMs = 2000

/**
 * Hints for unknown ids and phone numbers, by argument: the closest existing values, or some
 * examples. No hint if these cannot be read.
 */
export async function didYouMean(
  error: ApiError,
  request: RouteRequest,
  session: RestrictedSession,
): Promise<Record<string, string>> {
  const missing = isNotFound(error) ? await missingArguments(error, request, session) : []
  const given: Record<string, unknown> = { ...request.query, ...request.body, ...request.params }
  const suspects = [...missing, ...refusedReferences(error.failure)].filter(
    (name) => typeof given[name] === 'string',
  )
  const hints = await Promise.all(
    suspects.map(async (name) => {
      const id = String(given[name])
      const isMissing = missing.includes(name)
      const fixes = !isMissing && isPlacing(error) && fixesFor(name, id, request, session)
      const meant = (await fixes) || (await hintFor(name, id, request, session))
      const what = isMissing ? noSuch(name, id, session) : undefined
      return [name, [what, meant].filter(Boolean).join(' ')]
    }),
  )
  return Object.fromEntries(hints.filter(([, hint]) => hint))
}

const isPlacing = ({ method, path }: ApiError) =>
  method === routes.calls.place.method && path === routes.calls.place.path

/** The fixes that check_call_readiness would give for a refused argument of place_call. */
const fixesFor = (name: string, given: string, request: RouteRequest, session: RestrictedSession) =>
  resultOr(
    callFixes(name, given, accountReader({ request, session, signal: undefined })).catch(
      ignoreApiError,
    ),
    () => undefined,
    { ms: hintTimeoutMs },
  )

/**
 * A sentence such as `There is no agent Front desk.` If names cannot be looked up, the sentence
 * says `no agent with the id`.
 */
export const noSuch = (argument: string, given: string, session: RestrictedSession): string =>
  `There is no ${nounOf(argument)} ${listForName(argument, given, session) ? 'with the id ' : ''}${given}.`

/** The list tool that is needed to look up this name, if that tool is not exposed. */
function listForName(
  argument: string,
  given: string,
  session: RestrictedSession,
): string | undefined {
  const kind = namedKind(argument)
  const isName = argument.endsWith('_id') && !isUuid(given)
  return kind && isName && !session.mayRead(kind.list) ? kind.listTool : undefined
}

/** The kind of object that an argument refers to, if it has names. */
const namedKind = (argument: string): ReferenceKind | undefined => {
  const kind = kindOf(argument)
  return kind && kind.names.length > 0 ? kind : undefined
}

/** The noun for an argument: `SIP trunk` for `sip_trunk_id`. */
const nounOf = (argument: string) =>
  argument
    .replace(/^inbound_|_id$/g, '')
    .replaceAll('_', ' ')
    .replace('sip', 'SIP')

/** Arguments that a 422 names as wrong and that refer to objects. */
function refusedReferences(failure: Failure): string[] {
  if (failure.kind !== 'rejected' || failure.status !== 422) return []
  const named = failure.errors.map(({ field }) => argumentOf(field))
  return [...new Set(named)].filter((name) => namedKind(name) !== undefined)
}

/** Hint for an argument whose value does not exist. */
export async function hintFor(
  argument: string,
  given: string,
  { params }: RouteRequest,
  session: RestrictedSession,
): Promise<string | undefined> {
  const kind = namedKind(argument)
  if (!kind || given === 'me') return undefined
  const list = listForName(argument, given, session)
  if (list) return `A name needs ${list}, which is not exposed here: give the id.`
  const account_id = argument === 'account_id' ? 'me' : accountIn({ params })
  const [known, owner] = await Promise.all([
    existingItems(kind, given, account_id, session),
    kind === agents && isUuid(given) ? accountOfAgent(given, account_id, session) : undefined,
  ])
  if (owner) return elsewhere(argument, owner)
  if (!known || known.some(({ id }) => id === given)) return undefined
  const hint = valuesMeant(given, known, kind)
  return kind === agents && !isUuid(given) ? `${hint} ${archivedAgentHint}` : hint
}

/**
 * Hint that the agent belongs to another account. A reference must be to an object of the same
 * account.
 */
function elsewhere(argument: string, { id, name }: AccountInTree): string {
  const account = `It is in the account ${nameWithId(name, id)}`
  return argument === 'agent_id' ? `${account}: give that account_id.` : `${account}.`
}

/** Names are looked up among active agents only. */
const archivedAgentHint =
  'An archived agent is found by its id only: list_agents with is_archived true shows it.'

function valuesMeant(given: string, known: NamedItem[], { listTool: list }: ReferenceKind): string {
  if (known.length === 0) return `There are none in this account (${list}).`
  const meant = closestItems(given, known)
  if (meant.length > 0) return `Did you mean ${meant.map(itemLabel).join(' or ')}?`
  const some = known.slice(0, 5).map(itemLabel).join(', ')
  return known.length > 5 ? `Some that exist: ${some}; ${list} shows all.` : `There are ${some}.`
}

/** Maximum number of pages read to find the closest items. */
const maxPages = 5

/** Maximum number of words of a mistyped name that are used to search for further agents. */
const maxWords = 2

/** Existing items, as far as they could be read in time; `undefined`: every read failed. */
async function existingItems(
  kind: ReferenceKind,
  given: string,
  account_id: string,
  session: RestrictedSession,
): Promise<NamedItem[] | undefined> {
  const pages: NamedItem[][] = []
  const page = async (query: object) => {
    const request = { params: { account_id }, query: { limit: maxCompared, ...query } }
    const { count = 0, items } = await session.cache.refresh(kind.list, request, 'names')
    pages.push(items.map((item) => namedItem(item, kind)))
    return count
  }
  const allPages = page({}).then(async (count) => {
    if (count <= maxCompared) return
    const all = Math.min(maxPages, Math.ceil(count / maxCompared))
    const offsets = Array.from({ length: all - 1 }, (_, at) => (at + 1) * maxCompared)
    const words = kind === agents && count > all * maxCompared ? longestWords(given) : []
    const more = [...offsets.map((offset) => ({ offset })), ...words.map((name) => ({ name }))]
    await Promise.all(more.map(page))
  })
  await resultOr(allPages.catch(ignoreApiError), () => undefined, { ms: hintTimeoutMs })
  if (pages.length === 0) return undefined
  const known = new Map(pages.flat().map((one) => [one.id, one]))
  known.delete('')
  return [...known.values()]
}

const longestWords = (text: string) =>
  text
    .split(/\s+/)
    .filter((word) => word.length > 2)
    .sort((a, b) => b.length - a.length)
    .slice(0, maxWords)

/** An item for comparison: its names, and as id the value that the argument sends for it. */
function namedItem(
  item: Readonly<Record<string, unknown>>,
  { names, sends }: ReferenceKind,
): NamedItem {
  const text = (name: string) => (typeof item[name] === 'string' ? item[name] : null)
  return { id: text(sends ?? 'id') ?? '', names: names.filter((name) => name !== sends).map(text) }
}

/** Maximum number of accounts searched for a hint. */
const maxAccounts = 20

/** Time limit for searching accounts, ms. */
const searchTimeoutMs = 2000

/**
 * Calls `look` for an account and its subaccounts, to find a hint. An account that cannot be read
 * has the result `undefined`. Returns `undefined` if time was up.
 */
export const lookInTree = <T>(
  id: string,
  session: RestrictedSession,
  look: (account: AccountInTree, signal: AbortSignal) => Promise<T>,
): Promise<(T | undefined)[] | undefined> =>
  withTimeLimit(searchTimeoutMs, undefined, async (signal) => {
    const { accounts } = await readAccountTree({ id }, { session, signal, max: maxAccounts })
    return mapConcurrently(accounts, accountConcurrency, (one) =>
      look(one, signal).catch(ignoreApiError),
    )
  }).catch(ignoreApiError)

/**
 * Finds the account of this API key that has the agent. `undefined` if there is none, if it could
 * not be read in time, or if the search is not allowed.
 */
async function accountOfAgent(
  agent_id: string,
  account: string,
  session: RestrictedSession,
): Promise<AccountInTree | undefined> {
  if (whyNoSubaccounts(session) || !session.mayRead(routes.agents.get)) return undefined
  const root = await session.ownAccountId().catch(ignoreApiError)
  if (root === undefined) return undefined
  const places = await lookInTree(root, session, async (one, signal) => {
    if (one.id === (account === 'me' ? root : account)) return undefined
    const asked = { params: { account_id: one.id, agent_id }, query: {} }
    return (await session.client.call(routes.agents.get, asked, signal)) && one
  })
  return places?.find((one) => one !== undefined)
}

/**
 * After a 404: the arguments that refer to missing objects. If the platform does not name them, a
 * few reads with the same API key find them. Empty if these reads do not find them.
 */
async function missingArguments(
  error: ApiError,
  request: RouteRequest,
  session: RestrictedSession,
): Promise<string[]> {
  const given = givenReferences(error, request)
  const named = namedIn(error, Object.keys(given))
  if (named.length > 0) return named
  const done = new AbortController()
  const search = findMissing(given, { path: error.path, request, session, signal: done.signal })
  return resultOr(search, () => [], { ms: hintTimeoutMs }).finally(() => done.abort())
}

function givenReferences(
  { method, path }: ApiError,
  { params, query, body }: RouteRequest,
): Record<string, string> {
  // If a GET failed, the body was not sent: an update reads the object before it changes it.
  const sent = method === 'GET' ? undefined : body
  const values: Record<string, unknown> = { ...query, ...body, ...params }
  return Object.fromEntries(
    referencesOf(path, sent).flatMap((name) => {
      const value = values[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

/** Arguments that the platform's message names, such as `body.sip_trunk_id`. */
function namedIn({ failure }: ApiError, names: readonly string[]): string[] {
  if (failure.kind !== 'rejected') return []
  const { message, detail, errors } = failure
  const words = [message, detail, ...errors.map(({ field }) => field)].join(' ')
  return names.filter((name) => new RegExp(`\\b${name}\\b`).test(words))
}

interface Search {
  readonly path: string
  readonly request: RouteRequest
  readonly session: RestrictedSession
  readonly signal: AbortSignal
}

async function findMissing(given: Record<string, string>, search: Search): Promise<string[]> {
  const names = Object.keys(given)
  const [account, ...others] = await Promise.all([
    existenceOfAccount(search),
    // If the account exists, a single id must be the missing one, so it is not looked up.
    ...(names.length > 1 ? names : []).map((name) =>
      existenceOf(name, String(given[name]), search),
    ),
  ])
  if (account === 'missing') return ['account_id']
  if (account === 'unknown') return []
  if (names.length === 1) return names
  return names.filter((_, at) => others[at] === 'missing')
}

type Existence = 'there' | 'missing' | 'unknown'

/**
 * Finds out whether the account of the request exists. The API key's own account does; another
 * account does if its subaccounts can be listed.
 */
async function existenceOfAccount({ path, request, session, signal }: Search): Promise<Existence> {
  const account_id = accountIn(request)
  if (!path.includes('{account_id}') || account_id === 'me') return 'there'
  // If even the API key's own account is missing, the base URL is wrong, not the id.
  const ownId = await session.ownAccountId().catch(ignoreApiError)
  if (ownId === undefined) return 'unknown'
  if (ownId === account_id) return 'there'
  const asked = { params: { account_id }, query: { limit: 1 } }
  return existenceBy(session.client.call(routes.accounts.listSubaccounts, asked, signal))
}

async function existenceOf(
  name: string,
  id: string,
  { request, session, signal }: Search,
): Promise<Existence> {
  const kind = kindOf(name)
  if (!kind) return 'unknown'
  const account_id = accountIn(request)
  const asked = { params: { account_id, [kind.parameter]: id }, query: {} }
  return existenceBy(session.client.call(kind.get, asked, signal))
}

async function existenceBy(promise: Promise<unknown>): Promise<Existence> {
  try {
    await promise
    return 'there'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return isNotFound(error) ? 'missing' : 'unknown'
  }
}
