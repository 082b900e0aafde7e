import { routes } from '../src/contract/routes.ts'
import { createdSubaccount } from '../src/flows/accounts/account-result.ts'
import { updateSubaccountSteps } from '../src/flows/accounts/update-subaccount.ts'
import { getCurrentAccountSteps } from '../src/flows/get-current-account.ts'
import { listSteps } from '../src/flows/lists/list-steps.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'
import { listDefaults } from '../src/views/list.ts'

export const getCurrentAccount = defineTool({
  name: 'get_current_account',
  title: 'Show my own account: who I am logged in or signed in as, which API key',
  description:
    'Returns the account the API key belongs to: id, name, whether it is active. Call it first to learn whose account this is.',
  route: routes.accounts.current,
  steps: getCurrentAccountSteps,
})

export const listSubaccounts = defineTool({
  name: 'list_subaccounts',
  title: 'List subaccounts: clients, customers, branches that are set up',
  description:
    'Lists the direct subaccounts of an account. Their ids can be used as account_id in the other tools.',
  route: routes.accounts.listSubaccounts,
  defaults: listDefaults,
  steps: listSteps(routes.accounts.listSubaccounts, { shows: ['id', 'name', 'is_active'] }),
})

export const createSubaccount = defineTool({
  name: 'create_subaccount',
  title: 'Create (open, add, onboard) a new subaccount for a client, customer, branch or office',
  description:
    'Creates a subaccount, for a customer or branch whose agents and numbers are kept apart.',
  route: routes.accounts.createSubaccount,
  line: createdSubaccount,
})

export const getSubaccount = defineTool({
  name: 'get_subaccount',
  title: 'Show one subaccount (client, customer, branch): details, active or not, when created',
  description: 'Returns one subaccount by its id. For the own account use get_current_account.',
  route: routes.accounts.getSubaccount,
})

export const updateSubaccount = defineTool({
  name: 'update_subaccount',
  title:
    'Change a subaccount (client, customer, branch): rename, shut off, deactivate or enable again',
  description:
    'Renames a subaccount, disables it (is_active false keeps its data; may ask first) or enables it.',
  route: routes.accounts.updateSubaccount,
  // Whether it is active has two values, and either can be sent.
  clears: ['name'],
  steps: updateSubaccountSteps,
})
