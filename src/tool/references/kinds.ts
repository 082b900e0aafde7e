import type { Route } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { ListRoute } from '../lists/list-result.ts'

/** A kind of object that arguments refer to, with the routes that list and read it. */
export interface ReferenceKind {
  /** Plural for errors: `2 SIP trunks are called …`. */
  readonly plural: string
  readonly list: ListRoute
  readonly listTool: string
  /** The list's filter by part of a name, if the platform has it. */
  readonly filter?: 'name'
  /** Fields that hold a name. Calls have none. */
  readonly names: readonly ('friendly_name' | 'name' | 'number')[]
  readonly get: Route
  /** Name of the path parameter in `get`. */
  readonly parameter: string
  /** Field that a request sends for the object; by default its id. */
  readonly sends?: 'number'
}

export const agents: ReferenceKind = {
  plural: 'agents',
  list: routes.agents.list,
  listTool: 'list_agents',
  filter: 'name',
  names: ['name'],
  get: routes.agents.get,
  parameter: 'agent_id',
}

const accounts: ReferenceKind = {
  plural: 'accounts',
  list: routes.accounts.listSubaccounts,
  listTool: 'list_subaccounts',
  names: ['name'],
  get: routes.accounts.getSubaccount,
  parameter: 'subaccount_id',
}

const numbers: ReferenceKind = {
  plural: 'phone numbers',
  list: routes.phoneNumbers.list,
  listTool: 'list_phone_numbers',
  names: ['friendly_name', 'number'],
  get: routes.phoneNumbers.get,
  parameter: 'phone_number_id',
}

const sipTrunks: ReferenceKind = {
  plural: 'SIP trunks',
  list: routes.sipTrunks.list,
  listTool: 'list_sip_trunks',
  names: ['name'],
  get: routes.sipTrunks.get,
  parameter: 'sip_trunk_id',
}

const calls: ReferenceKind = {
  plural: 'calls',
  list: routes.calls.list,
  listTool: 'list_calls',
  names: [],
  get: routes.calls.get,
  parameter: 'call_id',
}

/**
 * Arguments that take an object's id or exact name, wherever a request sends them. The account
 * comes first, because the others name objects in that account. `to_number` takes only a number.
 */
export const kindsByArgument = {
  account_id: accounts,
  subaccount_id: accounts,
  agent_id: agents,
  inbound_agent_id: agents,
  sip_trunk_id: sipTrunks,
  phone_number_id: numbers,
  from_number: { ...numbers, sends: 'number' },
} as const satisfies Readonly<Record<string, ReferenceKind>>

export type NamingArgument = keyof typeof kindsByArgument

const kinds: Readonly<Record<string, ReferenceKind>> = { ...kindsByArgument, call_id: calls }

/** Kind of object that an argument refers to, if any. */
export const kindOf = (argument: string): ReferenceKind | undefined =>
  Object.hasOwn(kinds, argument) ? kinds[argument] : undefined

/** Body arguments for which the platform answers 404 if their object does not exist [B]. */
const inBodies = ['agent_id', 'inbound_agent_id', 'sip_trunk_id']

/** Arguments of an operation that refer to objects, in its path and body. */
export function referencesOf(path: string, body: object | undefined): string[] {
  const last = /\{(\w+)\}$/.exec(path)?.[1]
  // Every path contains the account, so the account does not count.
  const inPath = last && last !== 'account_id' && kindOf(last) ? [last] : []
  return [...inPath, ...inBodies.filter((name) => body && name in body && !inPath.includes(name))]
}
