import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { ApiError, ignoreApiError } from '../../platform/failure.ts'
import { accountIn } from '../../platform/sessions/account.ts'
import type { RestrictedSession } from '../../platform/sessions/restricted-session.ts'
import { resultOr } from '../../platform/time-limit.ts'

/** A kind of thing that arguments refer to: where such things are listed, and read one by one. */
export interface KindOfThing {
  /** For errors: `2 SIP trunks are called …`. */
  readonly plural: string
  readonly list: Route
  /** The tool that lists them. */
  readonly listTool: string
  /** The filter of the list by a part of the name, where the platform has one. */
  readonly filter?: 'name'
  /** What they are called by; calls have no names. */
  readonly names: readonly ('friendly_name' | 'name' | 'number')[]
  readonly get: Route
  /** The path parameter of `get`. */
  readonly parameter: string
  /** What is sent for the thing; its id, unless this says otherwise. */
  readonly sends?: 'number'
}

export const agents: KindOfThing = {
  plural: 'agents',
  list: routes.agents.list,
  listTool: 'list_agents',
  filter: 'name',
  names: ['name'],
  get: routes.agents.get,
  parameter: 'agent_id',
}

const accounts: KindOfThing = {
  plural: 'accounts',
  list: routes.accounts.listSubaccounts,
  listTool: 'list_subaccounts',
  names: ['name'],
  get: routes.accounts.getSubaccount,
  parameter: 'subaccount_id',
}

const numbers: KindOfThing = {
  plural: 'phone numbers',
  list: routes.phoneNumbers.list,
  listTool: 'list_phone_numbers',
  names: ['friendly_name', 'number'],
  get: routes.phoneNumbers.get,
  parameter: 'phone_number_id',
}

const sipTrunks: KindOfThing = {
  plural: 'SIP trunks',
  list: routes.sipTrunks.list,
  listTool: 'list_sip_trunks',
  names: ['name'],
  get: routes.sipTrunks.get,
  parameter: 'sip_trunk_id',
}

const calls: KindOfThing = {
  plural: 'calls',
  list: routes.calls.list,
  listTool: 'list_calls',
  names: [],
  get: routes.calls.get,
  parameter: 'call_id',
}

/**
 * Arguments that mean a thing by its id or its exact name, wherever they are sent; the account first,
 * because the others name things in it. `to_number` takes numbers only.
 */
export const kindsByArgument = {
  account_id: accounts,
  subaccount_id: accounts,
  agent_id: agents,
  inbound_agent_id: agents,
  sip_trunk_id: sipTrunks,
  phone_number_id: numbers,
  from_number: { ...numbers, sends: 'number' },
} as const satisfies Readonly<Record<string, KindOfThing>>

export type NamingArgument = keyof typeof kindsByArgument

const kinds: Readonly<Record<string, KindOfThing>> = { ...kindsByArgument, call_id: calls }

/** What an argument refers to, if to anything. */
export const kindOf = (argument: string): KindOfThing | undefined =>
  Object.hasOwn(kinds, argument) ? kinds[argument] : undefined

/** A 404, with or without the platform's error envelope. */
export const isNotFound = ({ failure }: ApiError): boolean =>
  'status' in failure && failure.status === 404

/** References in bodies, for which the platform answers 404 as well [B]. */
const inBodies = ['agent_id', 'inbound_agent_id', 'sip_trunk_id']

/** How long an error waits until it is known what is missing, ms. */
const patienceMs = 2000

/**
 * After a 404: the arguments that refer to something that does not exist. The platform may name them;
 * otherwise a few reads with the same key find out. Empty when that is not possible.
 */
export async function missingArguments(
  error: ApiError,
  request: RouteRequest,
  session: RestrictedSession,
): Promise<string[]> {
  const given = givenReferences(error, request)
  const named = namedIn(error, Object.keys(given))
  if (named.length > 0) return named
  const done = new AbortController()
  const search = findMissing(given, { path: error.path, request, session, signal: done.signal })
  return resultOr(search, () => [], { ms: patienceMs }).finally(() => done.abort())
}

/** The arguments of an operation that refer to something: in its path, and in its body. */
export function referencesOf(path: string, body: object | undefined): string[] {
  const last = /\{(\w+)\}$/.exec(path)?.[1]
  // An account is in the path of everything.
  const inPath = last && last !== 'account_id' && kindOf(last) ? [last] : []
  return [...inPath, ...inBodies.filter((name) => body && name in body && !inPath.includes(name))]
}

function givenReferences(
  { method, path }: ApiError,
  { params, body }: RouteRequest,
): Record<string, string> {
  // A flow that reads before it writes sends the body with the last request only.
  const sent = method === 'GET' ? undefined : body
  const values: Record<string, unknown> = { ...body, ...params }
  return Object.fromEntries(
    referencesOf(path, sent).flatMap((name) => {
      const value = values[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

/** The references that the platform's message names, such as `body.sip_trunk_id`. */
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
  const [account, ...things] = await Promise.all([
    existenceOfAccount(search),
    // One alone is the missing one unless it is the account: nothing to read.
    ...(names.length > 1 ? names : []).map((name) =>
      existenceOf(name, String(given[name]), search),
    ),
  ])
  if (account === 'missing') return ['account_id']
  if (account === 'unknown') return []
  if (names.length === 1) return names
  return names.filter((_, at) => things[at] === 'missing')
}

type Existence = 'there' | 'missing' | 'unknown'

/** The key's own account exists; another exists if its subaccounts can be listed. */
async function existenceOfAccount({ path, request, session, signal }: Search): Promise<Existence> {
  const account_id = accountIn(request)
  if (!path.includes('{account_id}') || account_id === 'me') return 'there'
  // Where not even the key's own account is found, the base URL is wrong, not the id.
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

async function existenceBy(reading: Promise<unknown>): Promise<Existence> {
  try {
    await reading
    return 'there'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return isNotFound(error) ? 'missing' : 'unknown'
  }
}
