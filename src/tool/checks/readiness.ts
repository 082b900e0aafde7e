import * as z from 'zod'
import type { Account } from '../../contract/account.ts'
import type { Agent } from '../../contract/agent.ts'
import type { PhoneNumber } from '../../contract/phone-number.ts'
import type { ReplyOf } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { SipTrunk } from '../../contract/sip-trunk.ts'
import { unlessMissing } from '../../platform/failure.ts'
import { readAllItems } from '../../platform/sessions/pagination.ts'
import { closestItems } from '../../text/closest-match.ts'
import { nameWithId } from '../../text/labels.ts'
import type { AccountReader } from '../account-reader.ts'
import {
  archivedFixes,
  callFromFixes,
  type DialOut,
  type FixReader,
  inSentences,
  readDialOut,
  trunkFixes,
  unknownNumberFixes,
} from './suggested-fixes.ts'

/** One finding about something that an agent or a call needs. */
export const CheckResult = z.object({
  check: z.string().describe('What was looked at.'),
  ok: z.boolean().describe('True: it keeps no call from being placed.'),
  found: z.string().describe('What there is, or what is wrong.'),
  fix: z.string().optional().describe('What to do about it, best first.'),
})
export type CheckResult = z.output<typeof CheckResult>

export const ok = (check: string, found: string): CheckResult => ({ check, ok: true, found })

/**
 * A finding that does not prevent the call, but may impair it. `fixes`: see `inSentences`.
 */
export const warning = (check: string, found: string, ...fixes: string[]): CheckResult => ({
  ...ok(check, found),
  fix: inSentences(fixes),
})

/** A finding that prevents the call. */
export const problem = (check: string, found: string, ...fixes: string[]): CheckResult => ({
  check,
  ok: false,
  found,
  fix: inSentences(fixes),
})

/**
 * Checks that the request's account and the API key's own account above it are active: a call needs
 * both. If another account is pinned, id and name of the key's own account are not shown. Throws
 * ApiError.
 */
export async function checkAccounts(
  { account, call }: AccountReader,
  pinnedAccount: string | undefined,
): Promise<CheckResult[]> {
  const own = await call(routes.accounts.current, {})
  const isHidden = pinnedAccount !== undefined && ![own.id, 'me'].includes(pinnedAccount)
  const shown = isHidden ? { ...own, id: "the API key's own", name: null } : own
  const ownCheck = activeCheck(
    shown,
    'ask its parent account, or who runs the platform, to enable it',
  )
  if (account === 'me' || account === own.id) return [ownCheck]
  const params = { account_id: 'me', subaccount_id: account }
  const subaccount = await unlessMissing(call(routes.accounts.getSubaccount, { params }))
  return subaccount ? [ownCheck, activeCheck(subaccount, enableFix(subaccount))] : [ownCheck]
}

const enableFix = ({ id }: Account) =>
  `enable it (update_subaccount with subaccount_id ${id}, is_active true)`

function activeCheck({ id, name, is_active }: Account, fix: string): CheckResult {
  const account = nameWithId(name, id)
  return is_active === false
    ? problem('account', `${account} is disabled`, fix)
    : ok('account', account)
}

/** Checks by the platform's lists that an agent is not archived. Throws ApiError. */
export async function checkNotArchived(agent: Agent, reader: FixReader): Promise<CheckResult> {
  const name = nameWithId(agent.name, agent.id)
  const archived = await isArchived(agent, (query) => reader.call(routes.agents.list, { query }))
  if (archived === undefined)
    return ok('agent', `${name}; the platform does not show whether it is archived`)
  if (!archived) return ok('agent', name)
  return problem('agent', `${name} is archived`, ...archivedFixes(agent.id, reader))
}

/** Reads one page of the account's agents. */
type ListAgents = (
  query: Readonly<Record<string, unknown>>,
) => Promise<ReplyOf<typeof routes.agents.list>>

/**
 * Finds out whether an agent is archived. Replies may lack the field [R], so the lists decide: an
 * archived agent is in the list of archived agents and not in the default list. `undefined`:
 * undecided. An agent in both lists shows that the platform ignores the filter.
 */
export async function isArchived(
  { id, name }: Pick<Agent, 'id' | 'name'>,
  list: ListAgents,
): Promise<boolean | undefined> {
  const isListed = async (filters: object) => {
    const hasIt = (agents: readonly { readonly id: string }[]) =>
      agents.some((one) => one.id === id)
    const read = (page: object) => list({ ...(name && { name }), ...filters, ...page })
    const { items, isAll } = await readAllItems(read, { isEnough: hasIt })
    return hasIt(items) || (isAll ? false : undefined)
  }
  const archived = await isListed({ is_archived: true })
  if (archived !== true) return archived
  return (await isListed({})) === false ? true : undefined
}

interface FromNumber {
  /** `undefined`: the account does not have the number. */
  readonly number: PhoneNumber | undefined
  readonly checks: CheckResult[]
}

/**
 * Looks up a phone number, and checks that its trunk can dial out. `fixReader`: reads the objects
 * that fixes name; without it, fixes name no objects. Throws ApiError.
 */
export async function lookUpFromNumber(
  e164: string,
  reader: AccountReader,
  fixReader?: FixReader,
): Promise<FromNumber> {
  const own = await findOwnNumber(e164, reader)
  const trunk = own.number && (await readTrunkOf(own.number, reader))
  const isAble = trunk !== undefined && canDialOut(trunk)
  const dialOut = isAble || !fixReader ? undefined : await readDialOut(own.numbers, fixReader)
  return { number: own.number, checks: numberChecks(e164, own, { trunk, dialOut }) }
}

interface NumberFindings {
  /** `undefined`: the account does not have the number, or its trunk is not known. */
  readonly trunk: TrunkOfNumber | undefined
  /** Other numbers and trunks that can dial out, for fixes; `undefined`: not read. */
  readonly dialOut: DialOut | undefined
}

/** Checks that the account has the number, and that the number can dial out. */
export function numberChecks(
  e164: string,
  own: OwnNumber,
  { trunk, dialOut = nothingRead }: NumberFindings,
): CheckResult[] {
  const owned = ownNumberCheck(e164, own, dialOut)
  return own.number && trunk ? [owned, trunkCheck(own.number, trunk, dialOut)] : [owned]
}

const nothingRead: DialOut = { trunks: [], numbers: [], accountArgument: '' }

function ownNumberCheck(
  e164: string,
  { number, numbers, isComplete }: OwnNumber,
  dialOut: DialOut,
): CheckResult {
  const check = 'from_number'
  if (number) return ok(check, number.friendly_name ? `${e164} (${number.friendly_name})` : e164)
  const able = dialOut.numbers.length > 0 ? dialOut.numbers : numbers
  const close = closestItems(
    e164,
    able.map((one) => ({ id: one.number ?? one.id, names: [one.friendly_name] })),
  ).map(({ id }) => id)
  const meant = able.filter((one) => close.includes(one.number ?? one.id))
  const own = meant.length > 0 ? meant : able
  return isComplete
    ? problem(
        check,
        `${e164} is no number of this account`,
        ...unknownNumberFixes(e164, own, dialOut),
      )
    : warning(
        check,
        `${e164} is not among the first ${numbers.length} numbers`,
        ...callFromFixes(own),
        'look for it with list_phone_numbers',
      )
}

/** The trunk of a phone number, or the reason why there is none. */
export type TrunkOfNumber = SipTrunk | 'no trunk' | 'managed by the platform' | 'does not exist'

/**
 * Reads the trunk of a phone number. A trunk that the platform manages cannot be read. Throws
 * ApiError.
 */
export async function readTrunkOf(
  { sip_trunk: trunk }: PhoneNumber,
  { call }: Pick<AccountReader, 'call'>,
): Promise<TrunkOfNumber> {
  if (!trunk) return 'no trunk'
  if (trunk.is_managed) return 'managed by the platform'
  const params = { sip_trunk_id: trunk.id }
  return (await unlessMissing(call(routes.sipTrunks.get, { params }))) ?? 'does not exist'
}

export const canDialOut = (trunk: TrunkOfNumber): boolean =>
  trunk === 'managed by the platform' ||
  (typeof trunk !== 'string' && Boolean(trunk.termination_uri))

function trunkCheck(number: PhoneNumber, trunk: TrunkOfNumber, dialOut: DialOut): CheckResult {
  const check = 'trunk'
  const { sip_trunk: named } = number
  const name = named ? nameWithId(named.name, named.id) : ''
  if (trunk === 'managed by the platform') return ok(check, `${name}, of the platform`)
  const own = typeof trunk === 'string' ? undefined : trunk
  if (own?.termination_uri) return ok(check, `${name} dials out by ${own.termination_uri}`)
  const found = {
    'no trunk': `the number${number.number ? ` ${number.number}` : ''} is on no SIP trunk`,
    'does not exist': `the number has no trunk: ${name}, which it names, does not exist`,
    'cannot dial out': `${name} cannot dial out: it has no termination URI`,
  }[typeof trunk === 'string' ? trunk : 'cannot dial out']
  return problem(check, found, ...trunkFixes(number, own, dialOut))
}

/** Checks that this agent answers the number's incoming calls. */
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
    `let this agent answer, if it should (update_phone_number with phone_number_id ${id}, inbound_agent_id ${agent.id})`,
  )
}

/**
 * Fixes for an argument of place_call that the platform refused, as sentences; `undefined`: the
 * checks find nothing wrong with the argument. Throws ApiError.
 */
export async function callFixes(
  argument: string,
  given: string,
  reader: AccountReader,
): Promise<string | undefined> {
  const checks =
    argument === 'from_number'
      ? (await lookUpFromNumber(given, reader, reader)).checks
      : argument === 'agent_id'
        ? await archivedChecks(given, reader)
        : []
  return checks.find((check) => !check.ok)?.fix
}

async function archivedChecks(agent_id: string, reader: AccountReader): Promise<CheckResult[]> {
  const agent = await unlessMissing(reader.call(routes.agents.get, { params: { agent_id } }))
  return agent ? [await checkNotArchived(agent, reader)] : []
}

interface OwnNumbers {
  readonly numbers: readonly PhoneNumber[]
  /** False: the account may have more numbers. */
  readonly isComplete: boolean
}

/** Reads the account's phone numbers, until `wanted` (E.164) is found. Throws ApiError. */
export async function readOwnNumbers(
  { call }: Pick<AccountReader, 'call'>,
  wanted?: string,
): Promise<OwnNumbers> {
  const { items, isAll } = await readAllItems(
    (query) => call(routes.phoneNumbers.list, { query }),
    { isEnough: (page) => wanted !== undefined && page.some(({ number }) => number === wanted) },
  )
  return { numbers: items, isComplete: isAll }
}

export interface OwnNumber extends OwnNumbers {
  /** `undefined`: the account does not have the number. */
  readonly number: PhoneNumber | undefined
}

/** Looks up one of the account's numbers by E.164. Throws ApiError. */
export async function findOwnNumber(e164: string, reader: AccountReader): Promise<OwnNumber> {
  const read = await readOwnNumbers(reader, e164)
  return { ...read, number: read.numbers.find(({ number }) => number === e164) }
}

/** Checks that an agent's transcriber and voice share a language. */
export function checkLanguages({
  transcriber,
  voice,
}: Pick<Agent, 'transcriber' | 'voice'>): CheckResult {
  const check = 'languages'
  const heard = [transcriber?.languages, transcriber?.language]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one !== '')
  const spoken = voice?.language
  if (typeof spoken !== 'string' || heard.length === 0) {
    return warning(
      check,
      'transcriber or voice names no language',
      'set transcriber.languages and voice.language with update_agent',
    )
  }
  const found = `transcriber ${heard.join(', ')}; voice ${spoken}`
  return heard.some((one) => isSameLanguage(one, spoken))
    ? ok(check, found)
    : problem(check, found, 'give both the same language with update_agent')
}

/** True for two codes of the same language, such as `de` and `de-AT`. */
const isSameLanguage = (one: string, other: string): boolean =>
  foldLanguageCode(one).split('-')[0] === foldLanguageCode(other).split('-')[0]

/** The case of a language code has no meaning (RFC 5646 §2.1.1); some vendors write `de_DE`. */
export const foldLanguageCode = (code: string) => code.toLowerCase().replaceAll('_', '-')
