import type { Account } from '../account.ts'
import { type Examples, exampleIds, exampleTimes, pageWith } from './ids.ts'

const account: Account = {
  id: exampleIds.account,
  name: 'Sandbox account',
  is_active: true,
  parent_account_id: null,
  ...exampleTimes,
}
const subaccount: Account = {
  ...account,
  id: exampleIds.subaccount,
  name: 'Sandbox branch',
  parent_account_id: exampleIds.account,
}

export const accountExamples: Examples = {
  'accounts.one': account,
  'subaccounts.one': subaccount,
  'subaccounts.page': pageWith(subaccount),
  'subaccounts.create.body': { name: 'Sandbox branch' },
  'subaccounts.update.body': { is_active: true },
}
