import type { PhoneNumber } from '../../contract/phone-number.ts'
import { routes } from '../../contract/routes.ts'
import type { SipTrunk } from '../../contract/sip-trunk.ts'
import { ignoreApiError } from '../../platform/failure.ts'
import { joinedUpTo, nameWithId } from '../../text/labels.ts'
import type { AccountReader } from '../account-reader.ts'

/**
 * Joins suggested fixes to sentences, best first. A fix says how to remove a problem. It begins
 * with a verb, and names the tool and its arguments if that saves the caller a look-up: `enable it
 * (update_subaccount with subaccount_id x, is_active true)`.
 */
export const inSentences = (fixes: readonly string[]): string =>
  fixes
    .map((fix, index) => (index === 0 ? fix.replace(/^./u, toUpperCase) : `Or ${fix}`))
    .map((sentence) => (/[.?!]$/.test(sentence) ? sentence : `${sentence}.`))
    .join(' ')

const toUpperCase = (letter: string) => letter.toUpperCase()

/** Fixes for an archived agent. */
export const archivedFixes = (
  agentId: string,
  { accountArgument }: Pick<FixReader, 'accountArgument'>,
): string[] => [
  `bring it back (update_agent with agent_id ${agentId}, is_archived false${accountArgument})`,
  'take another from list_agents',
]

/**
 * Access to the objects that fixes name, such as other trunks. `accountArgument`: the argument
 * `account_id` in advice, if tools need it.
 */
export type FixReader = Pick<AccountReader, 'call' | 'accountArgument'>

/** Trunks and phone numbers of an account that can dial out. */
export interface DialOut {
  /** Most used trunk first. */
  readonly trunks: readonly DialOutTrunk[]
  /** Sorted by their digits. */
  readonly numbers: readonly PhoneNumber[]
  readonly accountArgument: string
}

interface DialOutTrunk {
  readonly id: string
  /** The trunk's name; its id if another trunk has the same name. */
  readonly reference: string
  /** Labels of the phone numbers on the trunk. */
  readonly numbers: readonly string[]
}

/** Maximum number of trunks read for a fix. */
const maxTrunks = 100

/**
 * Finds the trunks and numbers that can dial out. `numbers`: the phone numbers of the account.
 * Finds nothing if the trunks cannot be read.
 */
export async function readDialOut(
  numbers: readonly PhoneNumber[],
  { call, accountArgument }: FixReader,
): Promise<DialOut> {
  const query = { limit: maxTrunks }
  const page = await call(routes.sipTrunks.list, { query }).catch(ignoreApiError)
  const items = page?.items ?? []
  const isUnique = ({ name }: SipTrunk) => items.filter((one) => one.name === name).length === 1
  const sorted = numbers.toSorted((a, b) => ((a.number ?? '') < (b.number ?? '') ? -1 : 1))
  const trunks = items
    .filter(({ termination_uri }) => termination_uri)
    .map((trunk) => ({
      id: trunk.id,
      reference: trunk.name && isUnique(trunk) ? trunk.name : trunk.id,
      numbers: sorted.filter((one) => one.sip_trunk?.id === trunk.id).map(nameOf),
    }))
    .sort((a, b) => b.numbers.length - a.numbers.length)
  const ids = new Set(trunks.map(({ id }) => id))
  const canDialOut = ({ sip_trunk: trunk }: PhoneNumber) =>
    trunk && (trunk.is_managed || ids.has(trunk.id))
  return { trunks, numbers: sorted.filter(canDialOut), accountArgument }
}

const nameOf = ({ id, number, friendly_name }: PhoneNumber) => friendly_name || number || id

/** Maximum number of items that a fix names. */
const maxNamed = 3

/** The first three labels as a choice: `A, B or C`. */
const oneOf = (labels: readonly string[]) => {
  const shown = labels.slice(0, maxNamed)
  return [shown.slice(0, -1).join(', '), ...shown.slice(-1)].filter(Boolean).join(' or ')
}

/** A trunk and its numbers: `Office trunk (with Main line, Sales line and 3 more)`. */
const trunkLabel = ({ reference, numbers }: DialOutTrunk): string =>
  numbers.length === 0 ? reference : `${reference} (with ${joinedUpTo(numbers, maxNamed)})`

/**
 * Fixes for a phone number that cannot dial out. `own`: its trunk, which has no termination URI.
 */
export function trunkFixes(
  number: Pick<PhoneNumber, 'id'>,
  own: Pick<SipTrunk, 'id'> | undefined,
  { trunks, numbers, accountArgument }: DialOut,
): string[] {
  const others = trunks.filter(({ id }) => id !== own?.id)
  const verb = own ? 'move the number to' : 'put the number on'
  const names = others.length > 0 ? `: ${oneOf(others.map(trunkLabel))}` : ''
  const trunkId = others[0]?.reference ?? 'of one from list_sip_trunks or create_sip_trunk'
  const move = `${verb} a trunk that can dial out${names} (update_phone_number with phone_number_id ${number.id}, sip_trunk_id ${trunkId}${accountArgument})`
  const setUri = `give its trunk a termination URI (update_sip_trunk with sip_trunk_id ${own?.id}, termination_uri${accountArgument})`
  const fixes = [...callFromFixes(numbers), ...(own ? [setUri] : [])]
  // Without a known trunk, moving the number takes the most steps, so that fix comes last.
  return others.length > 0 ? [move, ...fixes] : [...fixes, move]
}

/** Fixes for a phone number that the account does not have. */
export function unknownNumberFixes(
  number: string,
  numbers: readonly PhoneNumber[],
  { trunks, accountArgument }: DialOut,
): string[] {
  const [trunk] = trunks
  const add = `create_phone_number with number ${number}, sip_trunk_id ${trunk?.reference ?? 'from list_sip_trunks'}${accountArgument}`
  return [...callFromFixes(numbers), `add the number to the account, if it is yours (${add})`]
}

export const callFromFixes = (numbers: readonly PhoneNumber[]): string[] =>
  numbers.length > 0 ? [`call from ${oneOf(numbers.map(numberLabel))}`] : []

/** A phone number with its name: `Main line (+12025550110)`. */
const numberLabel = ({ id, number, friendly_name }: PhoneNumber) =>
  nameWithId(friendly_name, number ?? id)
