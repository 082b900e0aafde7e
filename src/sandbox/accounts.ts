import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Account } from '../contract/account.ts'
import { routes } from '../contract/routes.ts'
import { AccountRow, on } from './operation-handler.ts'
import { notFound, Problem } from './problem.ts'
import { pageOfRows } from './row-pages.ts'
import type { Store } from './store.ts'

function view(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    is_active: row.is_active === 1,
    parent_account_id: row.parent_id,
    created: new Date(row.created).toISOString(),
    modified: new Date(row.modified).toISOString(),
  }
}

const SandboxRow = z.object({ id: z.string() })

const sandboxId = (store: Store) => store.get(SandboxRow, 'SELECT id FROM sandbox')?.id

/** The account that owns an API key. Throws 401 for an unknown or missing key. */
export function accountOfKey(store: Store, apiKey: string | null): AccountRow {
  const sql =
    'SELECT accounts.* FROM api_keys JOIN accounts ON accounts.id = account_id WHERE api_key = :apiKey'
  const account = apiKey && store.get(AccountRow, sql, { apiKey })
  if (!account) {
    const message = apiKey ? 'The API key is not valid.' : 'The X-API-Key header is missing.'
    throw new Problem(401, message)
  }
  return account
}

const descendants = (account: string) => `WITH RECURSIVE below (id) AS (
  SELECT ${account} UNION ALL SELECT accounts.id FROM accounts JOIN below ON parent_id = below.id
)`

/**
 * SQL condition: the row belongs to the account in the parameter, or to one of its subaccounts at
 * any depth.
 */
export const withinAccount = (account: ':account' | '?'): string =>
  `account_id IN (${descendants(account)} SELECT id FROM below)`

function isWithin(store: Store, account: string, id: string): boolean {
  const sql = `${descendants(':account')} SELECT id FROM below WHERE id = :id`
  return store.get(z.unknown(), sql, { account, id }) !== undefined
}

/**
 * Returns the account of a path. An API key reaches its own account and all subaccounts. Throws 403
 * for other accounts, 404 for unknown ones.
 */
export function reachableAccount(store: Store, own: AccountRow, id: string): AccountRow {
  if (id === 'me' || id === own.id) return own
  const account = store.find(AccountRow, 'accounts', { id })
  if (!account) throw notFound('Account', id)
  if (!isWithin(store, own.id, id)) {
    throw new Problem(403, 'The API key has no access to this account.')
  }
  return account
}

/** True if the account and all above it are active. */
export function isActive(store: Store, { id }: AccountRow): boolean {
  const sql = `WITH RECURSIVE above (id, parent_id, is_active) AS (
    SELECT id, parent_id, is_active FROM accounts WHERE id = :id
    UNION ALL SELECT accounts.id, accounts.parent_id, accounts.is_active
    FROM accounts JOIN above ON accounts.id = above.parent_id
  ) SELECT id FROM above WHERE is_active = 0`
  return store.get(z.unknown(), sql, { id }) === undefined
}

function subaccount(store: Store, account: AccountRow, id: string): AccountRow {
  const found = store.find(AccountRow, 'accounts', { id })
  if (!found || id === account.id || !isWithin(store, account.id, id)) {
    throw notFound('Subaccount', id)
  }
  return found
}

export const accountHandlers = [
  // Id of the sandbox's database; the real platform sends none.
  on(routes.accounts.current, ({ store, own }) => ({ ...view(own), sandbox_id: sandboxId(store) })),

  on(routes.accounts.listSubaccounts, ({ store, account, query }) =>
    pageOfRows(store, AccountRow, view, {
      table: 'accounts',
      where: {
        'parent_id = ?': account.id,
        'is_active = ?': query.is_active === undefined ? undefined : Number(query.is_active),
      },
      page: query,
    }),
  ),

  on(routes.accounts.createSubaccount, ({ store, account, body, now }) => {
    const { name } = body
    return view(createAccount(store, { id: randomUUID(), parentId: account.id, name, now }))
  }),

  on(routes.accounts.getSubaccount, ({ store, account, params }) =>
    view(subaccount(store, account, params.subaccount_id)),
  ),

  on(routes.accounts.updateSubaccount, ({ store, account, params, body, now }) =>
    store.transaction(() => {
      const before = subaccount(store, account, params.subaccount_id)
      const after = {
        ...before,
        // In an update of a subaccount null counts as absent [R].
        name: body.name ?? before.name,
        is_active: Number(body.is_active ?? before.is_active),
      }
      if (after.name === before.name && after.is_active === before.is_active) return view(before)
      const { id, name, is_active } = after
      store.update('accounts', id, { name, is_active, modified: now })
      return view({ ...after, modified: now })
    }),
  ),
]

/** Stores a new, active account, with its API key if it has one. */
export function createAccount(
  store: Store,
  account: {
    id: string
    parentId: string | null
    name: string
    now: number
    apiKey?: string | undefined
  },
): AccountRow {
  const { id, parentId: parent_id, name, now, apiKey } = account
  const row = { id, parent_id, name, is_active: 1, created: now, modified: now }
  store.insert('accounts', row)
  if (apiKey !== undefined) store.insert('api_keys', { api_key: apiKey, account_id: id })
  return row
}
