import type { SipTrunk } from '../../src/contract/sip-trunk.ts'
import { counted, quoted, quotedNameWithId } from '../../src/text/dialog-text.ts'
import { emptyIps, isShownEmpty } from './allowed-ips.ts'

/** A saved trunk, one line: name, id, and the fields that decide its calls. */
export function trunkInWords(verb: string, trunk: SipTrunk): string {
  const { id, name, termination_uri: uri, allowed_ips: ips, phone_numbers: numbers } = trunk
  const facts = [
    uri ? `calls go out to ${quoted(uri)}` : 'no termination_uri, so no calls go out',
    ips?.length
      ? `calls come in from ${ips.map(quoted).join(', ')}`
      : isShownEmpty(trunk) && emptyIps,
    numbers && counted(numbers.length, 'number'),
  ].filter(Boolean)
  return `${verb} SIP trunk ${quotedNameWithId(name, id)}: ${facts.join('; ')}.`
}
