import * as z from 'zod'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { ApiError } from '../../platform/failure.ts'
import { accountIn, ownAccount } from '../../platform/sessions/account.ts'
import { type AllItems, maxItems, readAllItems } from '../../platform/sessions/pagination.ts'
import type { RestrictedSession } from '../../platform/sessions/restricted-session.ts'
import { isUuid } from '../../text/canonical-id.ts'
import { e164Meant, isE164 } from '../../text/phone-number.ts'
import { type ArgumentProblem, badArgument } from '../refused.ts'
import type { Run } from '../tool.ts'
import { kindsByArgument, type NamingArgument, type ReferenceKind } from './kinds.ts'

/** Id and name fields of a list item. */
const NamedFields = z.object({
  id: z.string(),
  name: z.string().nullish(),
  number: z.string().nullish(),
  friendly_name: z.string().nullish(),
  is_active: z.boolean().nullish(),
  created: z.string().nullish(),
})

export interface NamedObject extends z.output<typeof NamedFields> {
  /** True for the API key's own account, which is in no list. */
  readonly isOwnAccount?: boolean
}

/** A page of any list whose objects have names. */
const PageOfObjects = z.object({
  count: z.int().optional(),
  items: z.array(NamedFields),
})

/** Result of a look-up: the id that the text stands for, or a problem. */
type Meant =
  | {
      /** Id of the object. For a caller number, the phone number. */
      readonly id: string
      /**
       * True if the text is neither a UUID nor a name. The platform then decides whether it is an
       * id.
       */
      readonly isUnknown: boolean
    }
  /** Reason why the reference is ambiguous or unknown. */
  | { readonly problem: string }

interface Lookup {
  /** Path parameters of the request. They name the account in which names are looked up. */
  readonly params: RouteRequest['params']
  readonly session: RestrictedSession
  readonly signal: AbortSignal | undefined
}

type RequestWithIds =
  | {
      readonly ok: true
      readonly request: RouteRequest
      /** Names of the arguments whose value is neither a UUID nor a name. */
      readonly unknown: readonly string[]
      /** The names that were replaced with ids, by argument. */
      readonly named: Readonly<Record<string, string>>
    }
  | { readonly ok: false; readonly problem: ArgumentProblem }

/**
 * Replaces exact names of accounts, agents, SIP trunks and phone numbers with ids. A UUID counts as
 * an id and costs no request. Any other text is sent unchanged, because the platform decides what
 * an id is. Throws ApiError.
 */
export async function withIdsForNames(
  given: RouteRequest,
  session: RestrictedSession,
  signal: AbortSignal | undefined,
): Promise<RequestWithIds> {
  let request = given
  const named: Record<string, string> = {}
  const unknown: string[] = []
  // The account comes first in this table, because the other names are looked up in that account.
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

/** Replaces the value of an argument wherever the request sends it. */
function withValue(
  { params, query, body }: RouteRequest,
  argument: NamingArgument,
  value: string,
): RouteRequest {
  const replaced = <T extends object>(part: T): T =>
    argument in part ? { ...part, [argument]: value } : part
  return { params: replaced(params), query: replaced(query), ...(body && { body: replaced(body) }) }
}

/** Looks up several texts of an argument whose list has no name filter. Reads the list once. */
export function idsMeant(
  argument: NamingArgument,
  given: readonly string[],
  lookup: Lookup,
): Promise<Meant[]> {
  let all: Promise<AllItems<NamedObject>> | undefined
  const readOnce: typeof readObjects = (...asked) => {
    all ??= readObjects(...asked)
    return all
  }
  return Promise.all(given.map((one) => idMeant(argument, one, lookup, readOnce)))
}

/**
 * Looks up an object by id or exact name. If two objects have the name, `problem` has both ids.
 * Throws ApiError.
 */
export async function idMeant(
  argument: NamingArgument,
  given: string,
  lookup: Lookup,
  read = readObjects,
): Promise<Meant> {
  const kind: ReferenceKind = kindsByArgument[argument]
  // A pinned account is not looked up, because the parser has already checked the argument.
  const isSettled =
    argument === 'account_id' && (given === 'me' || lookup.session.pinnedAccount !== undefined)
  // If the list is not exposed, only ids work: a look-up would reveal names.
  const isValue = kind.sends === 'number' ? isE164(given) : isUuid(given)
  if (isValue || isSettled || !lookup.session.mayRead(kind.list))
    return { id: given, isUnknown: false }
  const { found, isAll } = await objectsNamed(given, argument, lookup, read)
  if (!kind.sends && found.some(({ id }) => id === given)) return { id: given, isUnknown: false }
  if (found.length > 1) return { problem: ambiguous(given, kind, found) }
  // If an unfiltered list has no match, the text may be an id. An incomplete list is then no
  // problem.
  if (!isAll && (found.length > 0 || kind.filter)) return { problem: uncertain(given, kind) }
  const value = found[0]?.[kind.sends ?? 'id']
  return value ? { id: value, isUnknown: false } : { id: given, isUnknown: true }
}

/**
 * The id of the object that an option of a tool names. `argument`: the option's name, if it
 * differs. Throws Refused if the name is ambiguous, and ApiError.
 */
export async function idOf(
  kind: NamingArgument,
  given: string,
  {
    request: { params },
    restricted: session,
    signal,
  }: Pick<Run, 'request' | 'restricted' | 'signal'>,
  argument: string = kind,
): Promise<string> {
  const meant = await idMeant(kind, given, { params, session, signal })
  if ('problem' in meant) throw badArgument(argument, meant.problem)
  return meant.id
}

interface Named {
  readonly found: readonly NamedObject[]
  /** False: objects that were not read may have the same name. */
  readonly isAll: boolean
}

/** Finds the objects with this exact name or id. Archived agents are found only by id. */
async function objectsNamed(
  name: string,
  argument: NamingArgument,
  lookup: Lookup,
  read: typeof readObjects,
): Promise<Named> {
  const kind: ReferenceKind = kindsByArgument[argument]
  // Accounts are looked up by name below the API key's own account.
  const params = argument === 'account_id' ? { account_id: 'me' } : lookup.params
  try {
    const [{ items, isAll }, own] = await Promise.all([
      read(kind, kind.filter ? { [kind.filter]: name } : {}, { ...lookup, params }),
      argument === 'account_id' ? ownAccountUnlessHidden(lookup.session) : [],
    ])
    const all = [...own, ...items]
    return { found: all.filter((one) => one.id === name || hasName(one, name, kind)), isAll }
  } catch (error) {
    if (error instanceof ApiError && saysNothing(error)) return { found: [], isAll: true }
    throw error
  }
}

/**
 * True for an error that the tool's own request would also meet, or for an undocumented reply.
 * Neither proves anything about an id.
 */
const saysNothing = ({ failure }: ApiError) =>
  failure.kind === 'rejected'
    ? failure.status < 500 && failure.status !== 429
    : failure.kind === 'unreadable' && failure.reason === 'unexpected_shape'

/** The API key's own account, as a candidate for a name: a subaccount may have the same name. */
const ownAccountUnlessHidden = async (session: RestrictedSession): Promise<NamedObject[]> =>
  session.mayRead(routes.accounts.current)
    ? [{ ...(await ownAccount(session)), isOwnAccount: true }]
    : []

/** The items of all pages of the list. */
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

/**
 * True if the text names the object. A text that looks like a phone number matches only numbers,
 * because another object's name may look the same.
 */
export function hasName(object: NamedObject, given: string, { names }: ReferenceKind): boolean {
  if (!names.includes('number')) return object.name === given
  return looksLikeNumber(given)
    ? object.number === e164Meant(given)
    : object.friendly_name === given
}

/** True for an international phone number with separators: `+1 (202) 555-0110`. */
const looksLikeNumber = (text: string) => /^\+[\d\s().-]+$/.test(text)

/** Maximum number of objects with the same name that an error shows. */
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
