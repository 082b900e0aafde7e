import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import * as z from 'zod'
import { routes } from '../contract/routes.ts'
import type { SipTrunk } from '../contract/sip-trunk.ts'
import { on } from './operation-handler.ts'
import { invalid, notFound, Problem } from './problem.ts'
import { pageOfRows } from './row-pages.ts'
import type { Store } from './store.ts'

const SipTrunkRow = z.object({
  id: z.string(),
  account_id: z.string(),
  name: z.string().nullable(),
  termination_uri: z.string().nullable(),
  allowed_ips: z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text))),
})
type SipTrunkRow = z.output<typeof SipTrunkRow>

const TrunkNumber = z.object({
  id: z.string(),
  number: z.string(),
  friendly_name: z.string().nullable(),
})

function numbersOf(store: Store, trunkId: string): z.output<typeof TrunkNumber>[] {
  const sql =
    'SELECT id, number, friendly_name FROM phone_numbers WHERE sip_trunk_id = :trunkId ORDER BY created'
  return store.all(TrunkNumber, sql, { trunkId })
}

function view(store: Store, row: SipTrunkRow): SipTrunk {
  return {
    id: row.id,
    name: row.name ?? '',
    phone_numbers: numbersOf(store, row.id),
    // No documented request sets a password, so no sandbox trunk has one.
    has_auth_password: false,
    auth_password_length: null,
    allowed_ips: row.allowed_ips,
    termination_uri: row.termination_uri,
    sip_auth_username: null,
  }
}

export const findSipTrunk = (store: Store, account_id: string, id: string) =>
  store.find(SipTrunkRow, 'sip_trunks', { id, account_id })

function sipTrunk(store: Store, accountId: string, id: string): SipTrunkRow {
  const found = findSipTrunk(store, accountId, id)
  if (!found) throw notFound('SIP trunk', id)
  return found
}

/** A termination URI must be a target of SIP calls. */
function checkTermination({ termination_uri }: SipTrunkRow): void {
  if (termination_uri === null || isSipHost(termination_uri)) return
  throw invalid(
    'body.termination_uri',
    `${termination_uri} is no SIP host; expected one such as sip.example.com:5060.`,
  )
}

export const sipTrunkHandlers = [
  on(routes.sipTrunks.create, ({ store, account, body, now }) => {
    const row = {
      id: randomUUID(),
      account_id: account.id,
      name: body.name ?? null,
      termination_uri: body.termination_uri ?? null,
      allowed_ips: body.allowed_ips ?? [],
    }
    checkTermination(row)
    insertSipTrunk(store, row, now)
    return view(store, row)
  }),

  on(routes.sipTrunks.list, ({ store, account, query }) =>
    pageOfRows(store, SipTrunkRow, (row) => view(store, row), {
      table: 'sip_trunks',
      where: { 'account_id = ?': account.id },
      page: query,
    }),
  ),

  on(routes.sipTrunks.get, ({ store, account, params }) =>
    view(store, sipTrunk(store, account.id, params.sip_trunk_id)),
  ),

  on(routes.sipTrunks.update, ({ store, account, params, body }) =>
    store.transaction(() => {
      const before = sipTrunk(store, account.id, params.sip_trunk_id)
      const { name = before.name, termination_uri = before.termination_uri } = body
      const allowed_ips =
        body.allowed_ips === undefined ? before.allowed_ips : (body.allowed_ips ?? [])
      const after = { ...before, name, termination_uri, allowed_ips }
      checkTermination(after)
      const columns = { name, termination_uri, allowed_ips: JSON.stringify(allowed_ips) }
      store.update('sip_trunks', after.id, columns)
      return view(store, after)
    }),
  ),

  on(routes.sipTrunks.delete, ({ store, account, params }) =>
    store.transaction(() => {
      const { id } = sipTrunk(store, account.id, params.sip_trunk_id)
      const numbers = numbersOf(store, id).map(({ number }) => number)
      if (numbers.length > 0) {
        throw new Problem(409, 'The SIP trunk still has phone numbers.', {
          detail: `Unlink or delete them first: ${numbers.join(', ')}.`,
        })
      }
      store.run('DELETE FROM sip_trunks WHERE id = :id', { id })
      return undefined
    }),
  ),
]

export function insertSipTrunk(store: Store, row: SipTrunkRow, now: number): void {
  store.insert('sip_trunks', {
    ...row,
    allowed_ips: JSON.stringify(row.allowed_ips),
    created: now,
  })
}

const hostName =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/**
 * True for a SIP target (RFC 3261 §19.1.1, without a user): a host name or IP address, with
 * optional `sip:` or `sips:`, port and parameters.
 */
function isSipHost(text: string): boolean {
  const match =
    /^(?:sips?:)?(\[[^\]]*\]|[^:;[\]]*)(?::(\d{1,5}))?(?:;[\w.-]+(?:=[\w.%-]+)?)*$/i.exec(text)
  if (!match) return false
  const [, host = '', port] = match
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false
  if (host.startsWith('[')) return isIP(host.slice(1, -1)) === 6
  return isIP(host) === 4 || (hostName.test(host) && !/^[\d.]+$/.test(host))
}
