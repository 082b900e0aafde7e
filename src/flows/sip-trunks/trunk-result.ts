import type { SipTrunk } from '../../contract/sip-trunk.ts'
import { counted } from '../../text/counted.ts'
import { quoted, quotedNameWithId } from '../../text/dialog-text.ts'

const lineOf =
  (verb: string) =>
  ({ id, name, termination_uri: uri, allowed_ips: ips, phone_numbers: numbers }: SipTrunk) => {
    const facts = [
      uri ? `calls go out to ${quoted(uri)}` : 'no termination_uri, so no calls go out',
      ips?.length ? `calls come in from ${ips.map(quoted).join(', ')}` : 'no allowed_ips',
      numbers && counted(numbers.length, 'number'),
    ].filter(Boolean)
    return `${verb} SIP trunk ${quotedNameWithId(name, id)}: ${facts.join('; ')}.`
  }

/** A trunk that was saved, in a line: name, id, and what decides which calls it takes. */
export const createdSipTrunk = lineOf('Created')
export const updatedSipTrunk = lineOf('Updated')
