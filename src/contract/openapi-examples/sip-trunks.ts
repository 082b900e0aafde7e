import type { SipTrunk } from '../sip-trunk.ts'
import { type Examples, exampleIds, exampleLine, exampleTrunkName, pageWith } from './ids.ts'

const newTrunk = {
  name: exampleTrunkName,
  termination_uri: 'sip.example.com:5060',
  allowed_ips: ['192.0.2.10', '198.51.100.0/24'],
}
const trunk: SipTrunk = {
  id: exampleIds.trunk,
  ...newTrunk,
  phone_numbers: [
    { id: exampleIds.number, number: exampleLine.number, friendly_name: exampleLine.name },
  ],
  has_auth_password: false,
  auth_password_length: null,
  sip_auth_username: null,
}

export const sipTrunkExamples: Examples = {
  'sip_trunks.one': trunk,
  'sip_trunks.page': pageWith(trunk),
  'sip_trunks.create.body': newTrunk,
  'sip_trunks.update.body': { allowed_ips: newTrunk.allowed_ips },
}
