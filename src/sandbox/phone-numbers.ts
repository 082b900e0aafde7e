import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import { findAgent } from './agents.ts'
import { on } from './operation-handler.ts'
import { invalid, missingReference, notFound, Problem } from './problem.ts'
import { pageOfRows } from './row-pages.ts'
import { findSipTrunk } from './sip-trunks.ts'
import type { Store } from './store.ts'

const PhoneNumberRow = z.object({
  id: z.string(),
  account_id: z.string(),
  number: z.string(),
  friendly_name: z.string().nullable(),
  sip_trunk_id: z.string().nullable(),
  inbound_agent_id: z.string().nullable(),
})
type PhoneNumberRow = z.output<typeof PhoneNumberRow>

function view(store: Store, row: PhoneNumberRow): PhoneNumber {
  const trunk = row.sip_trunk_id && findSipTrunk(store, row.account_id, row.sip_trunk_id)
  const agent = row.inbound_agent_id && findAgent(store, row.account_id, row.inbound_agent_id)
  return {
    id: row.id,
    number: row.number,
    friendly_name: row.friendly_name,
    sip_trunk: trunk ? { id: trunk.id, name: trunk.name ?? '', is_managed: false } : null,
    inbound_agent: agent ? { id: agent.id, name: nameOf(agent.config.name), avatar: null } : null,
    spam_data: {},
    checker_data: {},
  }
}

const nameOf = (name: unknown) => (typeof name === 'string' ? name : '')

function phoneNumber(store: Store, accountId: string, id: string): PhoneNumberRow {
  const found = store.find(PhoneNumberRow, 'phone_numbers', { id, account_id: accountId })
  if (!found) throw notFound('Phone number', id)
  return found
}

/** Finds the account's number by its E.164 form. */
export const findNumber = (store: Store, account_id: string, number: string) =>
  store.find(PhoneNumberRow, 'phone_numbers', { number, account_id })

/** Checks a number's references; each error names its field. */
function checkLinks(store: Store, row: PhoneNumberRow): void {
  const { account_id, sip_trunk_id, inbound_agent_id } = row
  if (sip_trunk_id !== null && !findSipTrunk(store, account_id, sip_trunk_id)) {
    throw missingReference('sip_trunk_id', 'SIP trunk', sip_trunk_id)
  }
  if (inbound_agent_id === null) return
  const agent = findAgent(store, account_id, inbound_agent_id)
  if (!agent) throw missingReference('inbound_agent_id', 'Agent', inbound_agent_id)
  if (agent.is_archived) throw invalid('body.inbound_agent_id', 'The agent is archived.')
}

/** Area codes of assigned numbers. */
const areaCodes = ['202', '212', '303', '312', '415', '503', '617', '713']

/**
 * A number that the account does not have yet [S], from 555-0150 to 555-0199: the other half of the
 * range reserved for fiction holds the destinations with fixed outcomes.
 */
function freeNumber(store: Store, accountId: string): string {
  for (const areaCode of areaCodes) {
    for (let last = 150; last < 200; last++) {
      const number = `+1${areaCode}5550${last}`
      if (!findNumber(store, accountId, number)) return number
    }
  }
  throw new Problem(409, 'The sandbox has no more numbers to give: name one with number.')
}

/** Throws if the account already has the number. */
function checkUnique(store: Store, row: PhoneNumberRow): void {
  const other = findNumber(store, row.account_id, row.number)
  if (other && other.id !== row.id) {
    throw new Problem(409, `The number ${row.number} is in this account already.`, {
      detail: `It has the id ${other.id}.`,
    })
  }
}

export const phoneNumberHandlers = [
  on(routes.phoneNumbers.create, ({ store, account, body, now }) =>
    store.transaction(() => {
      const row = {
        id: randomUUID(),
        account_id: account.id,
        number: body.number ?? freeNumber(store, account.id),
        friendly_name: body.name ?? null,
        sip_trunk_id: body.sip_trunk_id,
        inbound_agent_id: body.inbound_agent_id ?? null,
      }
      checkLinks(store, row)
      checkUnique(store, row)
      store.insert('phone_numbers', { ...row, created: now })
      return view(store, row)
    }),
  ),

  on(routes.phoneNumbers.list, ({ store, account, query }) =>
    pageOfRows(store, PhoneNumberRow, (row) => view(store, row), {
      table: 'phone_numbers',
      where: { 'account_id = ?': account.id },
      page: query,
    }),
  ),

  on(routes.phoneNumbers.get, ({ store, account, params }) =>
    view(store, phoneNumber(store, account.id, params.phone_number_id)),
  ),

  on(routes.phoneNumbers.update, ({ store, account, params, body }) =>
    store.transaction(() => {
      const before = phoneNumber(store, account.id, params.phone_number_id)
      // A number or name of null counts as absent [R].
      const number = body.number ?? before.number
      const name = body.name ?? before.friendly_name
      const { sip_trunk_id = before.sip_trunk_id } = body
      const { inbound_agent_id = before.inbound_agent_id } = body
      const after = { ...before, number, friendly_name: name, sip_trunk_id, inbound_agent_id }
      checkLinks(store, after)
      checkUnique(store, after)
      store.update('phone_numbers', after.id, after)
      return view(store, after)
    }),
  ),

  on(routes.phoneNumbers.delete, ({ store, account, params }) => {
    const { id } = phoneNumber(store, account.id, params.phone_number_id)
    store.run('DELETE FROM phone_numbers WHERE id = :id', { id })
    return undefined
  }),
]
