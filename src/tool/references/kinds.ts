import type { Route } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { ListRoute } from '../lists/list-fields.ts'

/** A kind of referenced object, with the routes that list and read it. */
export interface ReferenceKind {
  /** For errors: `2 SIP trunks are called …`. */
  readonly plural: string
  readonly list: ListRoute
  readonly listTool: string
  /** List filter by a part of the name, if the platform has one. */
  readonly filter?: 'name'
  /** Name fields; calls have none. */
  readonly names: readonly ('friendly_name' | 'name' | 'number')[]
  readonly get: Route
  /** The path parameter of `get`. */
  readonly parameter: string
  /** Field that is sent for the object; default: its id. */
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
 * Arguments that take an object's id or exact name, wherever they are sent. The account comes
 * first, because the other arguments name objects in that account. `to_number` takes numbers only.
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

/** References in bodies, for which the platform answers 404 as well [B]. */
const inBodies = ['agent_id', 'inbound_agent_id', 'sip_trunk_id']

/** Reference arguments of an operation, in its path and body. */
export function referencesOf(path: string, body: object | undefined): string[] {
  const last = /\{(\w+)\}$/.exec(path)?.[1]
  // An account is in the path of everything.
  const inPath = last && last !== 'account_id' && kindOf(last) ? [last] : []
  return [...inPath, ...inBodies.filter((name) => body && name in body && !inPath.includes(name))]
}
