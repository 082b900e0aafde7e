import * as z from 'zod'
import { accountParams, id, pageOf, pageQuery, timestamps } from './field.ts'
import { route } from './route.ts'

/** An account or subaccount [B]. */
export const Account = z.looseObject({
  id: z.string().describe('Account id.'),
  name: z.string().nullish().describe('Display name.'),
  is_active: z.boolean().nullish().describe('False when disabled.'),
  parent_account_id: z.string().nullish().describe('Parent account; null for a root account.'),
  ...timestamps,
})
export type Account = z.output<typeof Account>

const name = z.string().describe('Display name.')
const subaccountParams = { ...accountParams, subaccount_id: id('Subaccount id.') }

export const accountRoutes = {
  current: route({
    id: 'accounts.current',
    method: 'GET',
    path: '/v1/accounts/current',
    summary: 'The account the API key belongs to.',
    reply: Account,
    effect: 'reads',
  }),
  listSubaccounts: route({
    id: 'subaccounts.list',
    method: 'GET',
    path: '/v1/accounts/{account_id}/subaccounts',
    summary: 'Direct subaccounts of an account.',
    params: accountParams,
    query: {
      is_active: z.boolean().optional().describe('false: only disabled ones.'), // [R]
      ...pageQuery,
    },
    reply: pageOf(Account),
    effect: 'reads',
  }),
  createSubaccount: route({
    id: 'subaccounts.create',
    method: 'POST',
    path: '/v1/accounts/{account_id}/subaccounts',
    summary: 'Create a subaccount.',
    params: accountParams,
    body: z.object({ name }),
    reply: Account,
    success: 201,
    effect: 'writes',
  }),
  getSubaccount: route({
    id: 'subaccounts.get',
    method: 'GET',
    path: '/v1/accounts/{account_id}/subaccounts/{subaccount_id}',
    summary: 'One subaccount.',
    params: subaccountParams,
    reply: Account,
    effect: 'reads',
  }),
  updateSubaccount: route({
    id: 'subaccounts.update',
    method: 'PATCH',
    path: '/v1/accounts/{account_id}/subaccounts/{subaccount_id}',
    summary: 'Rename, disable or enable a subaccount.',
    params: subaccountParams,
    body: z.object({
      name: name.nullish(),
      is_active: z.boolean().nullish().describe('false disables, true enables.'),
    }),
    reply: Account,
    effect: 'writes',
  }),
}
