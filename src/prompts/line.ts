import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import type { SipTrunk } from '../contract/sip-trunk.ts'
import type { Attachment } from '../mcp/protocol/prompt.ts'
import type { PromptReader, ReadResult } from '../mcp/protocol/prompt-reader.ts'
import { attached, attachedFrom } from './attachments.ts'

/** A number of one's own with the trunk it runs over. */
export interface Line {
  /** `undefined` when the account has no such number. */
  readonly number: PhoneNumber | undefined
  /** `undefined` when the number has no trunk. */
  readonly trunk: ReadResult<SipTrunk> | undefined
}

/** Most numbers looked through, by page. */
const numbersPerPage = 100
const mostPages = 10

/** Every number of the account, as far as one looks; `isPart` when there are more. */
export async function ownNumbers(
  reader: PromptReader,
): Promise<ReadResult<{ numbers: PhoneNumber[]; isPart: boolean }>> {
  const known = new Map<string, PhoneNumber>()
  const result = (isPart: boolean) => ({
    ok: true as const,
    value: { numbers: [...known.values()], isPart },
  })
  for (let page = 0; page < mostPages; page++) {
    const before = known.size
    const query = { limit: numbersPerPage, offset: before }
    const read = await reader.attempt(reader.call(routes.phoneNumbers.list, { query }))
    if (!read.ok) return read
    const { items, count } = read.value
    for (const one of items) known.set(one.id, one)
    const isLast = count === undefined ? items.length < numbersPerPage : known.size >= count
    if (isLast || items.length === 0) return result(false)
    // The same page again: the platform ignores offset, and what lies beyond cannot be read.
    if (known.size === before) return result(true)
  }
  return result(true)
}

/** The line of a number in E.164. */
export async function lineOf(e164: string, reader: PromptReader): Promise<ReadResult<Line>> {
  const found = await ownNumbers(reader)
  if (!found.ok) return found
  const number = found.value.numbers.find((one) => one.number === e164)
  if (!number && found.value.isPart) {
    return { ok: false, problem: `not among the first ${found.value.numbers.length} numbers` }
  }
  const trunkId = number?.sip_trunk?.id
  const trunk =
    trunkId === undefined
      ? undefined
      : await reader.attempt(
          reader.call(routes.sipTrunks.get, { params: { sip_trunk_id: trunkId } }),
        )
  return { ok: true, value: { number, trunk } }
}

/** A number and its trunk, to attach. */
export function lineAttachments(e164: string, read: ReadResult<Line>): Attachment[] {
  if (!read.ok) {
    return [
      { what: `Number ${e164}`, missing: `not found (${read.problem}); use list_phone_numbers` },
    ]
  }
  const { number, trunk } = read.value
  if (!number) return [{ what: `Number ${e164}`, missing: 'is not a number of this account' }]
  return [
    attached(
      'Own number',
      `voice-agents://phone-numbers/${encodeURIComponent(number.id)}`,
      number,
      400,
    ),
    trunk
      ? attachedFrom(trunk, 'Its trunk', 'use get_sip_trunk', (value) =>
          attachedTrunk('Its trunk', value),
        )
      : { what: 'Its trunk', missing: 'the number is linked to none' },
  ]
}

/** A trunk without its numbers, which may be many. */
export function attachedTrunk(what: string, { phone_numbers, ...trunk }: SipTrunk): Attachment {
  return attached(
    what,
    `voice-agents://sip-trunks/${encodeURIComponent(trunk.id)}`,
    { ...trunk, numbers_on_it: phone_numbers?.length ?? 0 },
    400,
  )
}

export const attachedLine = async (e164: string, reader: PromptReader): Promise<Attachment[]> =>
  lineAttachments(e164, await lineOf(e164, reader))
