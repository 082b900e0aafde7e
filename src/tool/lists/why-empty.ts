import * as z from 'zod'
import { conversationStatuses } from '../../contract/conversation.ts'
import { voiceProviders, voicesIn } from '../../contract/provider.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { ignoreApiError } from '../../platform/failure.ts'
import { accountIn } from '../../platform/sessions/account.ts'
import type { RestrictedSession } from '../../platform/sessions/restricted-session.ts'
import { closestItems, closestWord, itemLabel } from '../../text/closest-match.ts'
import { quoted } from '../../text/dialog-text.ts'
import { hintFor, lookInTree } from '../references/did-you-mean.ts'
import { Refused } from '../refused.ts'
import type { ListRoute } from './list-result.ts'
import { whyNoSubaccounts } from './several-accounts.ts'

/**
 * A list request. `unknown`: names of the arguments whose value is neither a UUID nor an agent's
 * name.
 */
interface ListRequest {
  readonly route: Route
  readonly request: RouteRequest
  /** The tool's own arguments. */
  readonly options: Readonly<Record<string, unknown>>
  readonly unknown: readonly string[]
}

/**
 * The likely reason why a list is empty or a filter was misread; `undefined`: none. The platform
 * accepts any filter, so an empty list without a reason would pass as an answer. Throws Refused.
 */
export async function whyEmpty(
  { items: given, total, voices }: Readonly<Record<string, unknown>>,
  { route, request, options, unknown }: ListRequest,
  session: RestrictedSession,
): Promise<string | undefined> {
  // With `review` the result has counts in place of items, so it is empty only if `total` is 0.
  const items = options.review === true && total !== 0 ? undefined : given
  if (isEmpty(items) && unknown.includes('agent_id')) {
    const agent = String(request.query.agent_id)
    const hint = await hintFor('agent_id', agent, request, session)
    return `No agent has the id or name "${agent}". ${hint ?? ''}`.trim()
  }
  if (route.id === routes.calls.list.id && isEmpty(items)) {
    const unpublished = unknownStatus(request.query.status)
    if (unpublished) return unpublished
  }
  // Subaccounts are not searched if the tool's own filters are set: leaving these out shows more
  // items.
  const { fields, review, evidence, tz, ...ownOptions } = options
  const isOfOneAccount = isEmpty(items) && Object.keys(ownOptions).length === 0
  const below = isOfOneAccount ? await matchesBelow(route, request, session) : undefined
  if (route.id === routes.agents.list.id) {
    return [tagsReadApart(items, request.query.tags), below].filter(Boolean).join(' ') || undefined
  }
  if (below) return below
  const isOfVoices = route.id === routes.providers.voices.id && isEmpty(voices)
  return isOfVoices ? languageMeant(request, options.provider, session) : undefined
}

/**
 * Warns of a status that the platform does not document. Call statuses are not published, so any
 * status is sent. Throws Refused for a likely misspelling of a known status.
 */
function unknownStatus(status: unknown): string | undefined {
  if (typeof status !== 'string' || conversationStatuses.some((one) => one === status)) return
  const meant = closestWord(status, conversationStatuses)
  if (meant !== undefined) {
    const message = `no call has the status ${quoted(status)}; did you mean ${meant}?`
    throw new Refused('bad_arguments', 'the arguments cannot be right', {
      fields: [{ argument: 'status', message }],
    })
  }
  return `No call has the status ${quoted(status)}. Known: ${conversationStatuses.join(', ')}.`
}

/**
 * Warns that the platform may split a tag at its comma, because it accepts tags separated by commas
 * [R]. No warning if an agent in the list has the whole tag.
 */
function tagsReadApart(items: unknown, tags: unknown): string | undefined {
  const parted = (Texts.safeParse(tags).data ?? []).filter((tag) => tag.includes(','))
  const found = Tagged.safeParse(items).data ?? []
  const isWhole = found.every((agent) => parted.every((tag) => agent.tags?.includes(tag)))
  if (parted.length === 0 || (found.length > 0 && isWhole)) return undefined
  return `The platform may read a tag with a comma as several tags: ${parted.map(quoted).join(', ')}.`
}

const Texts = z.array(z.string())
const Tagged = z.array(z.looseObject({ tags: Texts.nullish() }))

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0

async function languageMeant(
  { params, query: { language } }: RouteRequest,
  provider: unknown,
  { cache }: RestrictedSession,
): Promise<string | undefined> {
  if (typeof language !== 'string') return undefined
  const catalogs = await Promise.all(
    (typeof provider === 'string' ? [provider] : voiceProviders).map((one) =>
      cache
        .read(routes.providers.voices, { params, query: { provider: one } }, 'catalog')
        .catch(ignoreApiError),
    ),
  )
  const voices = catalogs.flatMap((catalog) => voicesIn(catalog)?.voices ?? [])
  const codes = voices.flatMap((voice) => {
    const parsed = Spoken.safeParse(voice)
    return parsed.success ? [parsed.data.language] : []
  })
  const known = [...new Set(codes)].sort().map((id) => ({ id, names: namesOf(id) }))
  if (known.length === 0 || known.some(({ id }) => id.startsWith(language.toLowerCase()))) {
    return undefined
  }
  const meant = closestItems(language, known)
  const hint =
    meant.length > 0
      ? `Did you mean ${meant.map(itemLabel).join(' or ')}?`
      : `There are ${known.map(({ id }) => id).join(', ')}.`
  return `No voice has the language "${language}". ${hint}`
}

const Spoken = z.looseObject({ language: z.string().min(1) })

/** The English names of a language: `German (Germany)` and `German`. */
function namesOf(code: string): string[] {
  try {
    const names = new Intl.DisplayNames('en', { type: 'language' })
    return [code, code.split('-', 1)[0] ?? code].flatMap((one) => names.of(one) ?? [])
  } catch {
    // The provider's code is not a language tag.
    return []
  }
}

/** Lists whose tools take `include_subaccounts`. */
const lists: readonly ListRoute[] = [
  routes.agents.list,
  routes.phoneNumbers.list,
  routes.sipTrunks.list,
  routes.calls.list,
]

/**
 * Counts matches in subaccounts after the list of one account was empty. `undefined` if there are
 * none, if they could not be read in time, or if the search is not allowed.
 */
async function matchesBelow(
  route: Route,
  { params, query }: RouteRequest,
  session: RestrictedSession,
): Promise<string | undefined> {
  const list = lists.find(({ id }) => id === route.id)
  if (!list || whyNoSubaccounts(session) || Number(query.offset ?? 0) > 0) return undefined
  const root = accountIn({ params })
  const counts = await lookInTree(root, session, async ({ id: account_id }, signal) => {
    if (account_id === root) return 0
    const asked = { params: { account_id }, query: { ...query, limit: 1, offset: 0 } }
    const page = await session.client.call(list, asked, signal)
    return page.count ?? page.items.length
  })
  const sum = (counts ?? []).reduce<number>((total, count = 0) => total + count, 0)
  return sum === 0
    ? undefined
    : `Its subaccounts have at least ${sum}: include_subaccounts true lists them.`
}
