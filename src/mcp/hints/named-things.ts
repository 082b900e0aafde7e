import * as z from 'zod'
import type { Route } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'

/** An item of a list, as far as it says what it is called. */
const NamedThing = z.object({
  id: z.string(),
  name: z.string().nullish(),
  number: z.string().nullish(),
  friendly_name: z.string().nullish(),
  is_active: z.boolean().nullish(),
  created: z.string().nullish(),
})

export interface NamedThing extends z.output<typeof NamedThing> {
  /** It is the account of the API key, which is in no list. */
  readonly isOwnAccount?: boolean
}

/** A page of any list of things that have names. */
export const PageOfThings = z.object({
  count: z.int().optional(),
  items: z.array(NamedThing),
})

/** A kind of thing that is meant by its exact name as well as by its id. */
export interface KindOfThing {
  /** For errors: `2 SIP trunks are called …`. */
  readonly plural: string
  /** The list that shows the names. */
  readonly list: Route
  /** The filter by a part of the name, where the platform has one. */
  readonly filter?: 'name'
  /** What is sent for the thing; its id, unless this says otherwise. */
  readonly sends?: 'number'
  /** Whether the thing has that name. */
  readonly isCalled: (thing: NamedThing, name: string) => boolean
}

const byName = (thing: NamedThing, name: string) => thing.name === name

const agents: KindOfThing = {
  plural: 'agents',
  list: routes.agents.list,
  filter: 'name',
  isCalled: byName,
}

const subaccounts: KindOfThing = {
  plural: 'accounts',
  list: routes.accounts.listSubaccounts,
  isCalled: byName,
}

const phoneNumbers: KindOfThing = {
  plural: 'phone numbers',
  list: routes.phoneNumbers.list,
  isCalled: isNumberCalled,
}

/** Arguments that name a thing, wherever they are sent. `to_number` takes numbers only. */
export const kindsByArgument = {
  account_id: subaccounts,
  subaccount_id: subaccounts,
  agent_id: agents,
  inbound_agent_id: agents,
  sip_trunk_id: { plural: 'SIP trunks', list: routes.sipTrunks.list, isCalled: byName },
  phone_number_id: phoneNumbers,
  from_number: { ...phoneNumbers, sends: 'number' },
} as const satisfies Readonly<Record<string, KindOfThing>>

export type NamingArgument = keyof typeof kindsByArgument

/** What looks like a telephone number is one: the name of another number may look like it too. */
function isNumberCalled({ number, friendly_name }: NamedThing, given: string): boolean {
  return looksLikeNumber(given) ? number === e164Of(given) : friendly_name === given
}

/** An international number, as people write it: `+1 (202) 555-0110`. */
const looksLikeNumber = (text: string) => /^\+[\d\s().-]+$/.test(text)

const e164Of = (number: string) => number.replace(/[\s().-]/g, '')
