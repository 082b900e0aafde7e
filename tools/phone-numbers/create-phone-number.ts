import type { PhoneNumber } from '../../src/contract/phone-number.ts'
import { routes } from '../../src/contract/routes.ts'
import { quotedNameWithId } from '../../src/text/dialog-text.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { numberInWords } from '../../src/tool/in-use.ts'

export const createPhoneNumber = defineTool({
  name: 'create_phone_number',
  title: 'Add a phone number',
  description:
    'Adds a number you own to the account, on a SIP trunk (list_sip_trunks). Without number the platform gives one, which may cost money.',
  route: routes.phoneNumbers.create,
  line: addedNumber,
})

/** A number that was added, in a line: number, name, id, trunk, and who answers. */
function addedNumber(number: PhoneNumber): string {
  const { id, sip_trunk: trunk, inbound_agent: agent } = number
  return `Added number ${numberInWords(number)}, id ${id}: on ${trunkInWords(trunk)}, answered by ${agentInWords(agent)}.`
}

const trunkInWords = (trunk: PhoneNumber['sip_trunk']): string =>
  trunk ? `the SIP trunk ${quotedNameWithId(trunk.name, trunk.id)}` : 'no SIP trunk'

const agentInWords = (agent: PhoneNumber['inbound_agent']): string =>
  agent ? quotedNameWithId(agent.name, agent.id) : 'nobody'
