import type { Agent } from '../../contract/agent.ts'
import type { PhoneNumber } from '../../contract/phone-number.ts'
import { routes } from '../../contract/routes.ts'
import type { SipTrunk } from '../../contract/sip-trunk.ts'
import { closestItems, itemLabel, nameWithId } from '../../text/closest-match.ts'
import { type AccountReader, unlessMissing } from './account-reader.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import { findOwnNumber, type OwnNumber } from './own-numbers.ts'

interface FromNumber {
  /** `undefined`: not among the numbers of the account. */
  readonly number: PhoneNumber | undefined
  readonly checks: CheckResult[]
}

/** Looks up a number, and checks that its trunk can dial out. Throws ApiError. */
export async function lookUpFromNumber(e164: string, reader: AccountReader): Promise<FromNumber> {
  const found = await findOwnNumber(e164, reader)
  const owned = ownNumberCheck(e164, found)
  const { number } = found
  const trunk = number && trunkCheck(number, await readTrunkOf(number, reader))
  return { number, checks: trunk ? [owned, trunk] : [owned] }
}

/** Checks that a number belongs to the account, and to a trunk that can dial out. Throws ApiError. */
export const checkFromNumber = async (
  e164: string,
  reader: AccountReader,
): Promise<CheckResult[]> => (await lookUpFromNumber(e164, reader)).checks

export function ownNumberCheck(
  e164: string,
  { number, numbers, isComplete }: OwnNumber,
): CheckResult {
  const check = 'from_number'
  if (number) return ok(check, number.friendly_name ? `${e164} (${number.friendly_name})` : e164)
  const known = numbers.map((one) => ({ id: one.number ?? one.id, names: [one.friendly_name] }))
  const close = closestItems(e164, known)
  const some = (close.length > 0 ? close : known.slice(0, 5)).map(itemLabel).join(', ')
  const fix = some ? `call from one of your own: ${some}` : 'add a number with create_phone_number'
  return isComplete
    ? problem(check, `${e164} is no number of this account`, fix)
    : warning(check, `${e164} is not among the first ${numbers.length} numbers`, fix)
}

/** The trunk of a number, or why it was not read. */
export type TrunkOfNumber = SipTrunk | 'no trunk' | 'managed by the platform' | 'does not exist'

/** Reads the trunk of a number; one that the platform manages has no settings. Throws ApiError. */
export async function readTrunkOf(
  { sip_trunk: trunk }: PhoneNumber,
  { call }: Pick<AccountReader, 'call'>,
): Promise<TrunkOfNumber> {
  if (!trunk) return 'no trunk'
  if (trunk.is_managed) return 'managed by the platform'
  const params = { sip_trunk_id: trunk.id }
  return (await unlessMissing(call(routes.sipTrunks.get, { params }))) ?? 'does not exist'
}

export function trunkCheck(
  { id, sip_trunk: named }: PhoneNumber,
  trunk: TrunkOfNumber,
): CheckResult {
  const check = 'trunk'
  const name = named ? nameWithId(named.name, named.id) : ''
  switch (trunk) {
    case 'no trunk':
      return problem(
        check,
        'the number is on no SIP trunk',
        `put it on one with update_phone_number, phone_number_id ${id} (list_sip_trunks)`,
      )
    case 'managed by the platform':
      return ok(check, `${name}, of the platform`)
    case 'does not exist':
      return problem(
        check,
        `the number has no trunk: ${name}, which it names, does not exist`,
        `put it on another with update_phone_number, phone_number_id ${id} (list_sip_trunks)`,
      )
  }
  if (trunk.termination_uri) return ok(check, `${name} dials out by ${trunk.termination_uri}`)
  return problem(
    check,
    `${name} cannot dial out: it has no termination URI`,
    'set termination_uri with update_sip_trunk',
  )
}

/** Whether the agent answers incoming calls of the number. */
export function inboundCheck(
  { id, inbound_agent: answering }: PhoneNumber,
  agent: Pick<Agent, 'id'>,
): CheckResult {
  const check = 'inbound_agent'
  if (answering?.id === agent.id) return ok(check, 'this agent answers incoming calls')
  return warning(
    check,
    answering
      ? `another agent answers: ${nameWithId(answering.name, answering.id)}`
      : 'no agent answers this number',
    `if this agent shall answer: update_phone_number, phone_number_id ${id}, inbound_agent_id ${agent.id}`,
  )
}
