import { routes } from '../../src/contract/routes.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { treeListSteps } from '../../src/tool/lists/list-steps.ts'
import { listDefaults } from '../../src/tool/lists/list-view.ts'

export const listPhoneNumbers = defineTool({
  name: 'list_phone_numbers',
  title: 'List phone numbers',
  description:
    'Lists the phone numbers of an account with their trunk and inbound agent. include_subaccounts adds those of its subaccounts.',
  route: routes.phoneNumbers.list,
  defaults: listDefaults,
  ...treeListSteps(routes.phoneNumbers.list, {
    order: 'by_account',
    shows: [
      'id',
      'number',
      'friendly_name',
      'sip_trunk.id',
      'sip_trunk.name',
      'inbound_agent.id',
      'inbound_agent.name',
    ],
  }),
})
