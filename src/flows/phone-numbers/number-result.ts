import type { PhoneNumber } from '../../contract/phone-number.ts'
import { quotedNameWithId } from '../../text/dialog-text.ts'
import { numberInWords } from '../found-in-words.ts'

/** A number that was added, in a line: number, name, id, trunk, and who answers. */
export function addedNumber(number: PhoneNumber): string {
  const { id, sip_trunk: trunk, inbound_agent: agent } = number
  return `Added number ${numberInWords(number)}, id ${id}: on ${trunkInWords(trunk)}, answered by ${agentInWords(agent)}.`
}

const trunkInWords = (trunk: PhoneNumber['sip_trunk']): string =>
  trunk ? `the SIP trunk ${quotedNameWithId(trunk.name, trunk.id)}` : 'no SIP trunk'

const agentInWords = (agent: PhoneNumber['inbound_agent']): string =>
  agent ? quotedNameWithId(agent.name, agent.id) : 'nobody'
