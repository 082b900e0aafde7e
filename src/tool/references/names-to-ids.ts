import * as z from 'zod'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { ApiError } from '../../platform/failure.ts'
import { accountIn, ownAccount } from '../../platform/sessions/account.ts'
import { type AllItems, maxItems, readAllItems } from '../../platform/sessions/complete-lists.ts'
import type { RestrictedSession } from '../../platform/sessions/restricted-session.ts'
import { isUuid } from '../../text/canonical-id.ts'
import { e164Meant, isE164 } from '../../text/phone-number.ts'
import type { ArgumentProblem } from '../refused.ts'
import { kindsByArgument, type NamingArgument, type ReferenceKind } from './kinds.ts'

/** An item of a list, as far as it says what it is called. */
const NamedObject = z.object({
  id: z.string(),
  name: z.string().nullish(),
  number: z.string().nullish(),
  friendly_name: z.string().nullish(),
  is_active: z.boolean().nullish(),
  created: z.string().nullish(),
})

interface NamedObject extends z.output<typeof NamedObject> {
  /** It is the account of the API key, which is in no list. */
  readonly isOwnAccount?: boolean
}

/** A page of any list of objects that have names. */
const PageOfObjects = z.object({
  count: z.int().optional(),
  items: z.array(NamedObject),
})

/** What a text means: an id, and the name where it was given by one. */
type Meant =
  | {
      /** The object's id; of a caller number the number. */
      readonly id: string
      /** It is neither a UUID nor a name: the platform decides whether it is an id. */
      readonly isUnknown: boolean
    }
  /** Why the reference is ambiguous or unknown. */
  | { readonly problem: string }

interface Lookup {
  /** Its account is where names are looked up. */
  readonly params: RouteRequest['params']
  readonly session: RestrictedSession
  readonly signal: AbortSignal | undefined
}

type RequestWithIds =
  | {
      readonly ok: true
      readonly request: RouteRequest
      /** Arguments that are neither a UUID nor a name. */
      readonly unknown: readonly string[]
      /** The names that ids stand for now, by argument. */
      readonly named: Readonly<Record<string, string>>
    }
  | { readonly ok: false; readonly problem: ArgumentProblem }

/**
 * The request with ids in place of exact names of accounts, agents, SIP trunks and phone numbers. A
 * UUID is taken as an id, and costs no request. A text that is no name is sent unchanged, because the
 * platform decides what an id is. Throws ApiError.
 */
export async function withIdsForNames(
  given: RouteRequest,
  session: RestrictedSession,
  signal: AbortSignal | undefined,
): Promise<RequestWithIds> {
  let request = given
  const named: Record<string, string> = {}
  const unknown: string[] = []
  // The account comes first in the table: the other names are those of objects in it.
  for (const argument of Object.keys(kindsByArgument) as NamingArgument[]) {
    const { params, query, body } = request
    const name = params[argument] ?? query[argument] ?? body?.[argument]
    if (typeof name !== 'string') continue
    const meant = await idMeant(argument, name, { params, session, signal })
    if ('problem' in meant) return { ok: false, problem: { argument, message: meant.problem } }
    if (meant.isUnknown) unknown.push(argument)
    if (meant.id === name) continue
    named[argument] = name
    request = withValue(request, argument, meant.id)
  }
  return { ok: true, request, unknown, named }
}

/** The request with this value in place of its own, wherever it sends the argument. */
function withValue(
  { params, query, body }: RouteRequest,
  argument: NamingArgument,
  value: string,
): RouteRequest {
  const replaced = <T extends object>(part: T): T =>
    argument in part ? { ...part, [argument]: value } : part
  return { params: replaced(params), query: replaced(query), ...(body && { body: replaced(body) }) }
}

/** The same for several texts of one argument; a list that has no filter is read once. */
export function idsMeant(
  argument: NamingArgument,
  given: readonly string[],
  lookup: Lookup,
): Promise<Meant[]> {
  const kind: ReferenceKind = kindsByArgument[argument]
  let all: Promise<AllItems<NamedObject>> | undefined
  const readOnce: typeof readObjects = (...asked) => {
    all ??= readObjects(...asked)
    return all
  }
  const read = kind.filter ? readObjects : readOnce
  return Promise.all(given.map((one) => idMeant(argument, one, lookup, read)))
}

/**
 * The id of the object that an argument means, given by id or by exact name. Of two objects with the
 * same name neither is meant: `problem` has the ids of both. Throws ApiError.
 */
export async function idMeant(
  argument: NamingArgument,
  given: string,
  lookup: Lookup,
  read = readObjects,
): Promise<Meant> {
  const kind: ReferenceKind = kindsByArgument[argument]
  // Of a pinned account no other is looked for: the argument is checked where it is parsed.
  const isSettled =
    argument === 'account_id' && (given === 'me' || lookup.session.pinnedAccount !== undefined)
  // Where the list is not exposed, only ids work: an answer would reveal names.
  const isValue = kind.sends === 'number' ? isE164(given) : isUuid(given)
  if (isValue || isSettled || !lookup.session.mayRead(kind.list))
    return { id: given, isUnknown: false }
  const { found, isAll } = await objectsCalled(given, argument, lookup, read)
  if (!kind.sends && found.some(({ id }) => id === given)) return { id: given, isUnknown: false }
  if (found.length > 1) return { problem: ambiguous(given, kind, found) }
  // An unfiltered list that is too long says nothing of an id.
  if (!isAll && (found.length > 0 || kind.filter)) return { problem: uncertain(given, kind) }
  const value = found[0]?.[kind.sends ?? 'id']
  return value ? { id: value, isUnknown: false } : { id: given, isUnknown: true }
}

interface Called {
  readonly found: readonly NamedObject[]
  /** False: there are more objects than were read, so that another may have the name too. */
  readonly isAll: boolean
}

/**
 * Objects with that exact name, or with it as their id. Of agents only active ones: archived agents are
 * found by id only.
 */
async function objectsCalled(
  name: string,
  argument: NamingArgument,
  lookup: Lookup,
  read: typeof readObjects,
): Promise<Called> {
  const kind: ReferenceKind = kindsByArgument[argument]
  // The account itself is still to be found: its name is looked up below the key's own account.
  const params = argument === 'account_id' ? { account_id: 'me' } : lookup.params
  try {
    const [{ items, isAll }, own] = await Promise.all([
      read(kind, kind.filter ? { [kind.filter]: name } : {}, { ...lookup, params }),
      argument === 'account_id' ? ownAccountUnlessHidden(lookup.session) : [],
    ])
    const all = [...own, ...items]
    return { found: all.filter((one) => one.id === name || isCalled(one, name, kind)), isAll }
  } catch (error) {
    if (error instanceof ApiError && saysNothing(error)) return { found: [], isAll: true }
    throw error
  }
}

/**
 * An error that the tool itself would also report in its own terms, or a list that is not as
 * documented: neither says anything about an id.
 */
const saysNothing = ({ failure }: ApiError) =>
  failure.kind === 'rejected'
    ? failure.status < 500 && failure.status !== 429
    : failure.kind === 'unreadable' && failure.reason === 'unexpected_shape'

/** The key's own account: a subaccount may have the same name. */
const ownAccountUnlessHidden = async (session: RestrictedSession): Promise<NamedObject[]> =>
  session.mayRead(routes.accounts.current)
    ? [{ ...(await ownAccount(session)), isOwnAccount: true }]
    : []

/** The items of the list, on all pages. */
function readObjects(
  { list }: ReferenceKind,
  filters: object,
  { params, session: { client }, signal }: Lookup,
): Promise<AllItems<NamedObject>> {
  return readAllItems(async (page) => {
    const asked = { params: { account_id: accountIn({ params }) }, query: { ...filters, ...page } }
    return PageOfObjects.parse(await client.call(list, asked, signal))
  })
}

/** What looks like a telephone number is one: the name of another number may look like it too. */
function isCalled(object: NamedObject, given: string, { names }: ReferenceKind): boolean {
  if (!names.includes('number')) return object.name === given
  return looksLikeNumber(given)
    ? object.number === e164Meant(given)
    : object.friendly_name === given
}

/** An international number, as people write it: `+1 (202) 555-0110`. */
const looksLikeNumber = (text: string) => /^\+[\d\s().-]+$/.test(text)

/** How many objects of the same name an error names. */
const maxNamed = 5

const ambiguous = (name: string, { plural }: ReferenceKind, objects: readonly NamedObject[]) =>
  `${objects.length} ${plural} are called "${name}"; give the id${objects.length > maxNamed ? ', such as one of' : ''}: ${objects
    .slice(0, maxNamed)
    .map(labelOf)
    .join(', ')}`

function labelOf({ id, number, is_active, isOwnAccount, created }: NamedObject): string {
  const facts = [
    isOwnAccount && "the API key's own account",
    number,
    is_active === false && 'disabled',
    created && `created ${created}`,
  ].filter(Boolean)
  return facts.length > 0 ? `${id} (${facts.join(', ')})` : id
}

const uncertain = (name: string, { plural, filter }: ReferenceKind) =>
  filter
    ? `more than ${maxItems} ${plural} have "${name}" in their name, so it is not certain which one is meant; give the id`
    : `there are more than ${maxItems} ${plural}, so it is not certain that only one is called "${name}"; give the id`
