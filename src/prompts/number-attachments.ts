import type { PhoneNumber } from '../contract/phone-number.ts'
import type { SipTrunk } from '../contract/sip-trunk.ts'
import { readTrunkOf, type TrunkOfNumber } from '../flows/checks/from-number-check.ts'
import { findOwnNumber, type OwnNumber } from '../flows/checks/own-numbers.ts'
import type { Attachment } from '../mcp/protocol/prompt.ts'
import type { PromptReader, ReadResult } from '../mcp/protocol/prompt-reader.ts'
import { attached, attachedFrom } from './attachments.ts'

/** One of the account's numbers with its trunk, as far as they could be read. */
export interface NumberAndTrunk {
  readonly found: ReadResult<OwnNumber>
  /** `undefined`: there is no such number. */
  readonly trunk: ReadResult<TrunkOfNumber> | undefined
}

export async function readNumberAndTrunk(
  e164: string,
  reader: PromptReader,
): Promise<NumberAndTrunk> {
  const found = await reader.attempt(findOwnNumber(e164, reader))
  const number = found.ok ? found.value.number : undefined
  return { found, trunk: number && (await reader.attempt(readTrunkOf(number, reader))) }
}

export function numberAttachments(
  e164: string,
  { found, trunk }: NumberAndTrunk,
): readonly Attachment[] {
  const what = `Number ${e164}`
  if (!found.ok)
    return [{ what, missing: `could not be read (${found.problem}); use list_phone_numbers` }]
  const { number, numbers, isComplete } = found.value
  if (!number)
    return [
      {
        what,
        missing: isComplete
          ? 'is not a number of this account'
          : `is not among the first ${numbers.length} numbers; use list_phone_numbers`,
      },
    ]
  return [attachedNumber(number), ...(trunk ? [attachedTrunkOfNumber(trunk)] : [])]
}

const attachedNumber = (number: PhoneNumber) =>
  attached(
    'Own number',
    `voice-agents://phone-numbers/${encodeURIComponent(number.id)}`,
    number,
    400,
  )

const attachedTrunkOfNumber = (read: ReadResult<TrunkOfNumber>): Attachment =>
  attachedFrom(read, 'Its trunk', 'use get_sip_trunk', (trunk) =>
    typeof trunk === 'string'
      ? { what: 'Its trunk', missing: trunk }
      : attachedTrunk('Its trunk', trunk),
  )

/** A trunk without its numbers, which may be many. */
export function attachedTrunk(what: string, { phone_numbers, ...trunk }: SipTrunk): Attachment {
  return attached(
    what,
    `voice-agents://sip-trunks/${encodeURIComponent(trunk.id)}`,
    { ...trunk, numbers_on_it: phone_numbers?.length ?? 0 },
    400,
  )
}
