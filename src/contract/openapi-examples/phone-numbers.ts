import type { PhoneNumber } from '../phone-number.ts'
import { exampleAgent } from './agents.ts'
import { type Examples, exampleIds, exampleLine, exampleTrunkName, pageWith } from './ids.ts'

const newLine = { number: '+12025550190', name: 'Second line' }
const phoneNumber: PhoneNumber = {
  id: exampleIds.number,
  number: exampleLine.number,
  friendly_name: exampleLine.name,
  sip_trunk: { id: exampleIds.trunk, name: exampleTrunkName, is_managed: false },
  inbound_agent: { id: exampleIds.agent, name: exampleAgent.name, avatar: null },
  spam_data: {},
  checker_data: {},
}

export const phoneNumberExamples: Examples = {
  'phone_numbers.one': phoneNumber,
  'phone_numbers.page': pageWith(phoneNumber),
  'phone_numbers.create.body': {
    ...newLine,
    sip_trunk_id: exampleIds.trunk,
    inbound_agent_id: exampleIds.agent,
  },
  'phone_numbers.create.reply': {
    ...phoneNumber,
    id: exampleIds.newNumber,
    number: newLine.number,
    friendly_name: newLine.name,
  },
  'phone_numbers.update.body': { name: exampleLine.name, inbound_agent_id: null },
}
