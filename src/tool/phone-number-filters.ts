import * as z from 'zod'
import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { quotedNameWithId } from '../text/dialog-text.ts'
import { counted } from '../text/labels.ts'
import type { AccountLists, Matching, Owned, OwnedItems } from './lists/complete-account-lists.ts'
import { hintFor, noSuch } from './references/did-you-mean.ts'
import { badArgument } from './refused.ts'

/** Filters that the platform's list of phone numbers does not support. */
export const numberFilters = {
  sip_trunk_id: z.string().min(1).optional().describe('The trunk.'),
  unanswered: z.boolean().optional().describe('true: nobody answers.'),
}
type NumberFilters = z.output<z.ZodObject<typeof numberFilters>>

/**
 * Finds the phone numbers that match all filters, in every requested account. Throws Refused and
 * ApiError.
 */
export async function findNumbers(
  { sip_trunk_id: trunk, unanswered }: NumberFilters,
  lists: AccountLists,
): Promise<Matching<PhoneNumber>> {
  const isFiltered = trunk !== undefined || unanswered === true
  const read = isFiltered
    ? await readNumbers(lists, trunk === undefined ? 'unanswered' : 'sip_trunk_id')
    : await lists.read<PhoneNumber>(routes.phoneNumbers.list)
  const onTrunk = trunk === undefined ? undefined : await numbersOnTrunk(trunk, read, lists)
  const owned = (onTrunk?.owned ?? read.owned).filter(
    ({ item: { inbound_agent } }) => !unanswered || !inbound_agent,
  )
  return { ...read, owned, notes: onTrunk?.notes ?? [] }
}

/**
 * Reads all phone numbers of the accounts, with their trunks and agents. Throws Refused if a trunk
 * or agent is shown in an undocumented form: an unreadable agent must never count as no agent.
 * `argument`: the argument that needs the numbers.
 */
export async function readNumbers(
  lists: AccountLists,
  argument: string,
): Promise<OwnedItems<PhoneNumber>> {
  const refused = (message: string) => badArgument(argument, message)
  if (!lists.run.restricted.mayRead(routes.phoneNumbers.list))
    throw refused('needs list_phone_numbers, which this server does not offer')
  const read = await lists.read<PhoneNumber>(routes.phoneNumbers.list)
  if (read.drift.some((path) => /^items\.\*\.(inbound_agent|sip_trunk)\b/.test(path)))
    throw refused('the platform shows trunks or agents of numbers in an undocumented form')
  return read
}

/**
 * Keeps the numbers on a trunk, given by its id or exact name. Throws Refused if several trunks
 * have the name.
 */
export async function numbersOnTrunk(
  given: string,
  { owned, failed, isAll }: OwnedItems<PhoneNumber>,
  { run }: AccountLists,
): Promise<{ readonly owned: readonly Owned<PhoneNumber>[]; readonly notes: readonly string[] }> {
  const id = canonicalId(given)
  const trunks = new Map(
    owned.flatMap(({ item: { sip_trunk: trunk } }) =>
      trunk ? [[canonicalId(trunk.id), trunk.name] as const] : [],
    ),
  )
  const named = [...trunks].filter(([, name]) => name === given)
  const [[meant] = [id], other] = trunks.has(id) ? [] : named
  if (other) {
    const ids = named.map(([one]) => one).join(', ')
    const message = `${named.length} SIP trunks are called "${given}"; give the id: ${ids}`
    throw badArgument('sip_trunk_id', message)
  }
  const found = owned.filter(
    ({ item: { sip_trunk: trunk } }) => trunk && canonicalId(trunk.id) === meant,
  )
  if (found.length > 0) {
    const label = quotedNameWithId(trunks.get(meant), meant)
    return { owned: found, notes: [`${counted(found.length, 'number')} on the trunk ${label}.`] }
  }
  const why = failed.length === 0 && isAll ? '' : ' among those that were read'
  const hint = await hintFor('sip_trunk_id', given, run.request, run.restricted)
  const notes = [`No number is on the SIP trunk ${given}${why}.`]
  return {
    owned: [],
    notes: hint ? [...notes, noSuch('sip_trunk_id', given, run.restricted), hint] : notes,
  }
}
