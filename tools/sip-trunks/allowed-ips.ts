import { BlockList, isIPv6, SocketAddress } from 'node:net'
import type { SipTrunk } from '../../src/contract/sip-trunk.ts'
import { allowedIp } from '../../src/contract/sip-trunk.ts'
import { driftedFields } from '../../src/platform/reply-drift.ts'
import {
  argumentOf,
  editedList,
  type ListEdit,
  listEditOptions,
  listEdits,
} from '../../src/tool/list-edits.ts'
import { badArgument } from '../../src/tool/refused.ts'

/** The platform's reference does not say what an empty list allows. */
export const emptyIps =
  'allowed_ips is empty: the API does not say whether that allows calls from every address or from none'

/** Note for a result that shows trunks; `undefined`: no shown trunk has an empty list. */
export const emptyIpsNote = (shown: readonly object[]): string | undefined =>
  shown.some((trunk) => 'allowed_ips' in trunk && isEmpty(trunk.allowed_ips))
    ? `Where ${emptyIps}.`
    : undefined

/**
 * True if the result shows this trunk's list, and the list is empty. A list in an undocumented form
 * is not shown.
 */
export const isShownEmpty = (trunk: SipTrunk): boolean =>
  isEmpty(trunk.allowed_ips) && !driftedFields(trunk).includes('allowed_ips')

export const isEmpty = (ips: unknown): boolean => !Array.isArray(ips) || ips.length === 0

interface Block {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/**
 * Parses an IP address or CIDR block. A plain address is a block of one. The schema has already
 * checked the text.
 */
function blockOf(text: string): Block {
  const [address = '', prefix] = text.split('/')
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  return { address, family, bits: Number(prefix ?? (family === 'ipv6' ? 128 : 32)) }
}

/**
 * A key that is equal for all spellings of one block. A stored text that is not a valid block is
 * its own key.
 */
function keyOf(text: string): string {
  if (!allowedIp.safeParse(text).success) return text
  const { address, family, bits } = blockOf(text)
  return `${new SocketAddress({ address, family }).address}/${bits}`
}

/** True if a block lies within another. */
function isWithin(inner: string, outer: string): boolean {
  if (![inner, outer].every((text) => allowedIp.safeParse(text).success)) return false
  const [one, other] = [blockOf(inner), blockOf(outer)]
  if (one.family !== other.family || one.bits < other.bits) return false
  const list = new BlockList()
  list.addSubnet(other.address, other.bits, other.family)
  return list.check(one.address, one.family)
}

const lists = { allowed_ips: { path: 'allowed_ips', word: 'address', keyOf } }

export const ipOptions = listEditOptions(
  { allowed_ips: allowedIp },
  { add: 'To add.', remove: 'To remove.' },
)

type IpOptions = Parameters<typeof listEdits>[1]

/**
 * The edit that the arguments of a tool call ask for, if any. Throws Refused for contradictory
 * arguments.
 */
export const ipEdit = (options: IpOptions, body: object): ListEdit | undefined =>
  listEdits(lists, options, (path) => Object.hasOwn(body, path))[0]

interface WantedIps {
  readonly ips: readonly string[]
  readonly warnings: readonly string[]
  readonly missing: ReturnType<typeof editedList>['missing']
}

/**
 * The addresses of a trunk after an edit. Throws Refused if the list could not be read, or if the
 * edit would remove its last address: an empty list may open the trunk to everybody.
 */
export function wantedIps(trunk: SipTrunk, edit: ListEdit): WantedIps {
  const before = trunk.allowed_ips ?? []
  const { entries: ips, missing } = editedList(before, edit)
  const refused = (message: string) => badArgument(argumentOf(edit), message)
  if (driftedFields(trunk).includes('allowed_ips'))
    throw refused(
      'the platform shows allowed_ips of this trunk in an undocumented form: give the whole list in allowed_ips',
    )
  if (ips.length === 0 && before.length > 0)
    throw refused(
      'would remove the last address, and the API does not say whether an empty list allows calls from every address or from none: add another, or clear allowed_ips',
    )
  const still = edit.removed.flatMap((removed) => {
    const outer = ips.find((one) => isWithin(removed, one))
    return outer ? `${removed} is still allowed, by ${outer}` : []
  })
  const was = before.length === 0 && ips.length > 0
  return {
    ips,
    missing,
    warnings: [
      ...still,
      ...(was
        ? [
            `allowed_ips was empty, which may have allowed every address; now only ${ips.join(', ')}`,
          ]
        : []),
    ],
  }
}
