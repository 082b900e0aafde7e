import { routes } from '../src/contract/routes.ts'
import { treeListSteps } from '../src/flows/lists/list-steps.ts'
import { deleteSipTrunkSteps } from '../src/flows/sip-trunks/delete-sip-trunk.ts'
import { createdSipTrunk, updatedSipTrunk } from '../src/flows/sip-trunks/trunk-result.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'
import { listDefaults } from '../src/views/list.ts'

export const listSipTrunks = defineTool({
  name: 'list_sip_trunks',
  title: 'List SIP trunks: phone carriers and SIP connections that are hooked up',
  description:
    'Lists the SIP trunks of an account with their numbers. include_subaccounts adds those of its subaccounts.',
  route: routes.sipTrunks.list,
  defaults: listDefaults,
  steps: treeListSteps(routes.sipTrunks.list, {
    order: 'by_account',
    shows: ['id', 'name', 'termination_uri', 'phone_numbers'],
  }),
})

export const createSipTrunk = defineTool({
  name: 'create_sip_trunk',
  title:
    'Create a new SIP trunk: connect or hook up a carrier account, provider or phone system (PBX) to dial out',
  description:
    'Creates a SIP trunk that connects your telephony provider. Outgoing calls are sent to its termination_uri.',
  route: routes.sipTrunks.create,
  line: createdSipTrunk,
})

export const getSipTrunk = defineTool({
  name: 'get_sip_trunk',
  title: 'Show one SIP trunk: termination URI (host, address), password, its numbers',
  description: 'Returns one SIP trunk with its numbers. The password is never shown.',
  route: routes.sipTrunks.get,
})

export const updateSipTrunk = defineTool({
  name: 'update_sip_trunk',
  title:
    'Change a SIP trunk (carrier): rename, set the termination URI (host, address), restrict to an IP address',
  description:
    'Changes the given fields (as in create_sip_trunk) of a SIP trunk. allowed_ips replaces the whole list.',
  route: routes.sipTrunks.update,
  listing: { typesOnly: ['termination_uri', 'allowed_ips'] },
  line: updatedSipTrunk,
})

export const deleteSipTrunk = defineTool({
  name: 'delete_sip_trunk',
  title: 'Delete or remove an unused SIP trunk (carrier)',
  description: 'Deletes a SIP trunk without numbers; update_phone_number moves them first.',
  route: routes.sipTrunks.delete,
  steps: deleteSipTrunkSteps,
})
