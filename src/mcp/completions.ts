import type { CompleteResult } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { voiceProviders } from '../contract/provider.ts'
import type { Route } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { ignoreApiError } from '../platform/failure.ts'
import { ownAccount } from '../platform/sessions/account.ts'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import { isUuid } from '../text/canonical-id.ts'
import { safeLine } from '../text/safe-text.ts'

/** Maximum values in a reply, set by the protocol. */
const maxValues = 100

/** Matching values, best first. */
export function completionOf(typed: string, { all, isPart }: Candidates): CompleteResult {
  const wanted = fold(typed)
  const found = all
    .map((candidate) => ({ candidate, rank: rankOf(wanted, candidate) }))
    .filter(({ rank }) => rank < noMatch)
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate: { value } }) => value)
  // Multi-line values or hidden characters could mislead; escaped, they would not match again.
  const values = [...new Set(found)].filter(isOneLine)
  return {
    completion: {
      values: values.slice(0, maxValues),
      // The number of unread matches is unknown.
      ...(!isPart && { total: values.length }),
      hasMore: isPart || values.length > maxValues,
    },
  }
}

const noMatch = 3

/**
 * Rank of a match. 0: the value starts with the text; 1: a word of the value or of a name starts
 * with it; 2: the value or a name contains it.
 */
function rankOf(wanted: string, { value, names }: Candidates['all'][number]): number {
  const texts = [value, ...names.filter((name) => typeof name === 'string')].map(fold)
  if (texts[0]?.startsWith(wanted)) return 0
  if (texts.some((text) => text.startsWith(wanted) || hasWord(text, wanted))) return 1
  return texts.some((text) => text.includes(wanted)) ? 2 : noMatch
}

const hasWord = (text: string, wanted: string) =>
  [' ', '/', '-', '('].some((before) => text.includes(before + wanted))

/**
 * Removes accents, case and underscores: `Munchen` matches `münchen`, and `new york` matches
 * `America/New_York`.
 */
const fold = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[_\s]+/g, ' ')
    .toLowerCase()

interface Candidates {
  readonly all: readonly Candidate[]
  /** True if the list was read only in part. */
  readonly isPart: boolean
}

export const noCandidates: Candidates = { all: [], isPart: false }

interface CompletionContext {
  readonly session: RestrictedSession
  readonly account: string
}

/** Reads the candidates for an argument. Throws ApiError. */
export type CompletionSource = (context: CompletionContext) => Promise<Candidates>

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** True if the value has no characters that would be escaped. */
const isOneLine = (value: string) => safeLine(value) === value

/** Item ids as values, matched by id or name. */
const idsOf = ({ items, isPart }: CachedList): Candidates => ({
  all: items.flatMap(({ id, name }) => {
    const value = text(id)
    return value === undefined ? [] : [{ value, names: [text(name)] }]
  }),
  isPart,
})

/**
 * Item names as values. An item whose name is not unique or not usable as an argument has its id
 * instead.
 */
function namesOrIds(list: CachedList): Candidates {
  // An unread item may have the same name, so no name identifies an item.
  if (list.isPart) return idsOf(list)
  const ids = new Set(list.items.map(({ id }) => id))
  const counts = new Map<unknown, number>()
  for (const { name } of list.items) counts.set(name, (counts.get(name) ?? 0) + 1)
  const isUsable = (name: string) =>
    counts.get(name) === 1 &&
    // A name that equals an id, or looks like one, is read as an id.
    !ids.has(name) &&
    !isUuid(name) &&
    // Arguments are trimmed.
    name.trim() === name &&
    isOneLine(name)
  const all = idsOf(list).all.map(({ value, names: [name] }) =>
    name && isUsable(name) ? { value: name, names: [value] } : { value, names: [name] },
  )
  return { all, isPart: false }
}

/** Agents for arguments that take a name or an id. */
export const agentNames: CompletionSource = async (context) =>
  namesOrIds(await readCachedList(routes.agents.list, context))

/** Agents for arguments that take an id only, such as a resource URI. */
export const agentIds: CompletionSource = async (context) =>
  idsOf(await readCachedList(routes.agents.list, context))

export const trunkIds: CompletionSource = async (context) =>
  idsOf(await readCachedList(routes.sipTrunks.list, context))

/**
 * The API key's own account and its subaccounts, or only the account that the operator has pinned.
 */
export const accountIds: CompletionSource = async (context) => {
  const { session } = context
  if (session.pinnedAccount !== undefined)
    return { all: [{ value: session.pinnedAccount, names: [] }], isPart: false }
  // If one of the two reads fails, the values of the other are still offered.
  const [own, subaccounts] = await Promise.all([
    ownAccount(session).catch(ignoreApiError),
    readCachedList(routes.accounts.listSubaccounts, { ...context, account: 'me' })
      .then(idsOf)
      .catch(ignoreApiError),
  ])
  const { all, isPart } = subaccounts ?? noCandidates
  return { all: [...(own ? [{ value: own.id, names: [own.name] }] : []), ...all], isPart }
}

/** The account's phone numbers, also found by name and without the plus. */
export const ownNumbers: CompletionSource = async (context) => {
  const { items, isPart } = await readCachedList(routes.phoneNumbers.list, context)
  const all = items.flatMap(({ number, friendly_name }) => {
    const value = text(number)
    return value === undefined ? [] : [{ value, names: [text(friendly_name), value.slice(1)] }]
  })
  return { all, isPart }
}

/** The newest calls, failed ones first. */
export const callIds: CompletionSource = async (context) => {
  const { items, isPart } = await readCachedList(routes.calls.list, context, { pages: 1 })
  const failedFirst = ({ status }: Readonly<Record<string, unknown>>) =>
    status === 'failed' ? 0 : 1
  const all = [...items]
    .sort((a, b) => failedFirst(a) - failedFirst(b))
    .flatMap(({ id, agent_name, from_number, to_number, external_id }) => {
      const value = text(id)
      const names = [agent_name, from_number, to_number, external_id].map(text)
      return value === undefined ? [] : [{ value, names }]
    })
  return { all, isPart }
}

/** Voice providers: the known ones and those that agents use. No catalog lists them. */
export const voiceProviderCodes: CompletionSource = async (context) => {
  const agents = await readCachedList(routes.agents.list, context).catch(ignoreApiError)
  const WithVoice = z.object({ voice: z.object({ provider: z.string() }) })
  const used = (agents?.items ?? []).flatMap(
    (agent) => WithVoice.safeParse(agent).data?.voice.provider ?? [],
  )
  const all = [...new Set([...voiceProviders, ...used])].map((value) => ({ value, names: [] }))
  return { all, isPart: false }
}

/** Language codes of all transcribers, sorted. */
export const languageCodes: CompletionSource = async ({ session: { cache }, account }) => {
  const request = { params: { account_id: account }, query: {} }
  const catalog = await cache.read(routes.providers.transcribers, request, 'catalog')
  const languages = catalog
    .flatMap(({ models }) => models.flatMap(({ supported_languages: some }) => some ?? []))
    .map(({ code, name }) => [code, { value: code, names: [name] }] as const)
  // The first of several names of a code wins.
  const all = [...new Map(languages.toReversed()).values()]
  return { all: all.sort((a, b) => (a.value < b.value ? -1 : 1)), isPart: false }
}

export const timeZones: CompletionSource = async () => ({ all: ianaTimeZones(), isPart: false })

const Page = z.object({
  count: z.int().optional(),
  items: z.array(z.record(z.string(), z.unknown())),
})

/** Page size and page limit of a completion. */
const perPage = 100
const maxPages = 5

interface CachedList {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  /** True if the list has more items than were read. */
  readonly isPart: boolean
}

/**
 * Reads the first pages of a list through the cache, so that one more typed character costs no
 * request. Throws ApiError.
 */
async function readCachedList(
  route: Route,
  { session: { cache }, account }: CompletionContext,
  { pages = maxPages }: { readonly pages?: number } = {},
): Promise<CachedList> {
  const pageAt = async (offset: number) => {
    const request = { params: { account_id: account }, query: { limit: perPage, offset } }
    return Page.parse(await cache.read(route, request, 'names'))
  }
  const first = await pageAt(0)
  const total = first.count ?? first.items.length
  const offsets = Array.from({ length: pages - 1 }, (_, index) => (index + 1) * perPage)
  const rest = await Promise.all(offsets.filter((offset) => offset < total).map(pageAt))
  const items = [first, ...rest].flatMap((page) => page.items)
  return { items, isPart: items.length < total }
}

/** A value to insert, and other texts that match it. */
interface Candidate {
  readonly value: string
  readonly names: readonly (string | null | undefined)[]
}

/** Current names of zones that `Intl` lists under their former names. */
const renamed: Readonly<Record<string, string>> = {
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
}

let zones: readonly Candidate[] | undefined

/** IANA time zones and UTC, which `Intl` omits. Also matched by city, the last part of the name. */
function ianaTimeZones(): readonly Candidate[] {
  zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => ({
    value: renamed[zone] ?? zone,
    names: [zone.split('/').at(-1), zone],
  }))
  return zones
}
