import { routes } from '../src/contract/routes.ts'
import { treeListSteps } from '../src/flows/lists/list-steps.ts'
import { deletePhoneNumberSteps } from '../src/flows/phone-numbers/delete-phone-number.ts'
import { addedNumber } from '../src/flows/phone-numbers/number-result.ts'
import { updatePhoneNumberSteps } from '../src/flows/phone-numbers/update-phone-number.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'
import { listDefaults } from '../src/views/list.ts'

export const listPhoneNumbers = defineTool({
  name: 'list_phone_numbers',
  title: 'List phone numbers (lines) and which agent answers each',
  description:
    'Lists the phone numbers of an account with their trunk and inbound agent. include_subaccounts adds those of its subaccounts.',
  route: routes.phoneNumbers.list,
  defaults: listDefaults,
  steps: treeListSteps(routes.phoneNumbers.list, {
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

export const createPhoneNumber = defineTool({
  name: 'create_phone_number',
  title:
    'Add a phone number (line): import, connect or register one you bought or own, or get a new one',
  description:
    'Adds a number you own to the account, on a SIP trunk (list_sip_trunks). Without number the platform gives one, which may cost money.',
  route: routes.phoneNumbers.create,
  line: addedNumber,
})

export const getPhoneNumber = defineTool({
  name: 'get_phone_number',
  title:
    'Show one phone number (line): spam reputation or score, who answers when somebody calls, who picks up',
  description: 'Returns one phone number with trunk, inbound agent and spam reputation.',
  route: routes.phoneNumbers.get,
})

export const updatePhoneNumber = defineTool({
  name: 'update_phone_number',
  title:
    'Change one phone number (line) or many: label, rename, move numbers to another trunk or carrier, let an agent answer',
  description:
    'Changes a phone number, or many at once. inbound_agent_id sets who answers, sip_trunk_id moves it; clear removes that link.',
  route: routes.phoneNumbers.update,
  clears: ['inbound_agent_id', 'sip_trunk_id'],
  steps: updatePhoneNumberSteps,
})

export const deletePhoneNumber = defineTool({
  name: 'delete_phone_number',
  title: 'Delete a phone number (line): remove, cancel, release, give back, get rid of',
  description:
    'Removes a number from the account; a purchased one is released and may be lost for good. To only stop an agent answering, use update_phone_number.',
  route: routes.phoneNumbers.delete,
  steps: deletePhoneNumberSteps,
})
