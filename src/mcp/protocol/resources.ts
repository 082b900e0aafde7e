import {
  type ListResourcesResult,
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { ApiError } from '../../api/failure.ts'
import { saidBy } from '../../api/failure-text.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { settledAccount } from '../../session/account.ts'
import type { CacheTime } from '../../session/reply-cache.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import { messageText } from '../../text/client-text.ts'
import { safeJson, safeLine } from '../../text/safe-text.ts'
import { errorMetaKey } from '../call/error-result.ts'
import { agentIds, type CompletionSource, voiceProviderCodes } from './completion-sources.ts'

/** Whose resources, and whom to tell about bugs of our own. */
export interface ReadContext {
  readonly session: RestrictedSession
  readonly onBug: (error: unknown) => void
}

const mimeType = 'application/json'

/** What is behind an address: a reading of the platform. */
interface Reading {
  readonly route: Route
  readonly request: (account_id: string, value: string) => RouteRequest
  /** How long a reply is kept, here and by clients; absent: each reading is a fresh one. */
  readonly kept?: CacheTime
}

/** A resource with a fixed address. */
interface FixedResource extends Reading {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
}

/** A family of resources whose address holds one variable. */
interface ResourceTemplate extends Reading {
  readonly uriTemplate: string
  readonly name: string
  readonly title: string
  readonly description: string
  /** Values of its variable. */
  readonly completion: CompletionSource
}

const ofAccount = (account_id: string): RouteRequest => ({ params: { account_id }, query: {} })

const fixed: readonly FixedResource[] = [
  {
    uri: 'voice-agents://account',
    name: 'account',
    title: 'Account',
    description: 'The account of the API key.',
    route: routes.accounts.current,
    request: () => ({ params: {}, query: {} }),
  },
  {
    uri: 'voice-agents://catalog/models',
    name: 'models',
    title: 'Language models',
    description: 'Catalog of language models by provider, with ratings and prices.',
    route: routes.providers.models,
    request: ofAccount,
    kept: 'catalog',
  },
  {
    uri: 'voice-agents://catalog/transcribers',
    name: 'transcribers',
    title: 'Transcribers',
    description: 'Catalog of transcribers by provider, with the languages they take.',
    route: routes.providers.transcribers,
    request: ofAccount,
    kept: 'catalog',
  },
]

const templates: readonly ResourceTemplate[] = [
  {
    uriTemplate: 'voice-agents://catalog/voices/{provider}',
    name: 'voices',
    title: 'Voices of a provider',
    description: 'Live catalog of the voices of one provider, such as elevenlabs.',
    route: routes.providers.voices,
    request: (account_id, provider) => ({ params: { account_id }, query: { provider } }),
    completion: voiceProviderCodes,
    kept: 'catalog',
  },
  {
    uriTemplate: 'voice-agents://agents/{agent_id}',
    name: 'agent',
    title: 'Agent',
    description: 'Full configuration of one agent of the account.',
    route: routes.agents.get,
    request: (account_id, agent_id) => ({ params: { account_id, agent_id }, query: {} }),
    completion: agentIds,
  },
]

const shown = <T extends Reading>({ route: _, request: __, kept: ___, ...listed }: T) => ({
  ...listed,
  mimeType,
})

/** Templates of what an exposed tool reads. */
export const resourceTemplates = ({ mayRead }: RestrictedSession) =>
  templates.filter(isWithin(mayRead)).map(({ completion: _, ...template }) => shown(template))

/** The template with exactly that text, if an exposed tool reads what it stands for. */
export const templateAt = (
  uriTemplate: string,
  { mayRead }: RestrictedSession,
): ResourceTemplate | undefined =>
  templates.filter(isWithin(mayRead)).find((template) => template.uriTemplate === uriTemplate)

const isWithin =
  (mayRead: RestrictedSession['mayRead']) =>
  ({ route }: Reading) =>
    mayRead(route)

/** Agents listed with each page of resources. */
const agentsPerPage = 100

/** A page of resources: the fixed ones first, then the account's agents. */
export async function listResources(
  context: ReadContext,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListResourcesResult> {
  const offset = offsetOf(cursor)
  const { mayRead } = context.session
  const fixedOnes = offset === 0 ? fixed.filter(isWithin(mayRead)).map(shown) : []
  // An agent that cannot be read is not listed either.
  if (!mayRead(routes.agents.list) || !mayRead(routes.agents.get)) return { resources: fixedOnes }
  try {
    const page = await agentsPage(context, offset, signal)
    return { ...page, resources: [...fixedOnes, ...page.resources] }
  } catch (error) {
    // The catalogs are still there when the agents cannot be listed; what is missing is said.
    if (offset > 0 || !(error instanceof ProtocolError)) throw error
    return { resources: fixedOnes, _meta: { [errorMetaKey]: messageText(error.message) } }
  }
}

async function agentsPage(context: ReadContext, offset: number, signal: AbortSignal) {
  const query = { limit: agentsPerPage, offset }
  const { count, items } = await guarded('voice-agents://agents', context, () =>
    context.session.client.call(
      routes.agents.list,
      { params: { account_id: settledAccount(undefined, context.session.pinnedAccount) }, query },
      signal,
    ),
  )
  const resources: Resource[] = items.map(({ id, name, note }) => ({
    uri: `voice-agents://agents/${encodeURIComponent(id)}`,
    name: safeLine(`agent-${id}`),
    title: safeLine(name || `Agent ${id}`),
    ...(note && { description: safeLine(note) }),
    mimeType,
  }))
  // Agents may be deleted between two pages, so the end of the list is a page, too.
  if (items.length === 0 && offset > (count ?? offset)) throw unknownCursor()
  const seen = offset + items.length
  return { resources, ...(items.length > 0 && seen < (count ?? 0) && { nextCursor: String(seen) }) }
}

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw unknownCursor()
}

const unknownCursor = () =>
  new ProtocolError(-32602, 'The cursor is not one that this server gave: list again without it.')

/** For lists that are one page, so that no cursor is ever given. */
export function refuseCursor(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor !== undefined) throw unknownCursor()
}

/**
 * The contents of one resource; a miss is the protocol's resource-not-found error. What is kept
 * says how long clients may keep it too: for themselves only, since it is their account's.
 */
export async function readResource(
  context: ReadContext,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const found = find(uri, context.session)
  if (!found) throw new ResourceNotFoundError(context.session.redact(uri))
  const { route, request, kept } = found
  const { client, cache } = context.session
  const value = await guarded(uri, context, () =>
    kept ? cache.read(route, request, kept) : client.call(route, request, signal),
  )
  return {
    contents: [{ uri, mimeType, text: safeJson(JSON.stringify(value)) }],
    ttlMs: kept ? cache.cacheMs(kept) : 0,
    cacheScope: 'private',
  }
}

/** Those of the addresses that are watched when a client asks for all: of resources, and not too many. */
export const watchable = (uris: readonly string[]): string[] =>
  [...new Set(uris)].filter(isResource).slice(0, mostWatched)

/**
 * Calls back whenever the contents of one of the resources change, until the function it gives
 * back is called. What is not watchable is not watched. Throws WatchLimitError.
 */
export function watchResources(
  session: RestrictedSession,
  uris: readonly string[],
  onUpdate: (uri: string) => void,
): () => void {
  const stops: (() => void)[] = []
  const stopAll = () => {
    for (const stop of stops) stop()
  }
  try {
    for (const uri of watchable(uris)) {
      const found = find(uri, session)
      if (!found) continue
      const { route, request, kept = 'watched' } = found
      stops.push(session.cache.watch(route, request, kept, () => onUpdate(uri)))
    }
  } catch (error) {
    stopAll()
    throw error
  }
  return stopAll
}

/** Resources that one subscription may watch: each is read again and again. */
const mostWatched = 100

/** Whether it is an address of a kind that is served here; what it leads to may still be missing. */
const isResource = (uri: string) =>
  find(uri, { pinnedAccount: undefined, mayRead: () => true }) !== undefined

function find(
  uri: string,
  { pinnedAccount, mayRead }: Pick<RestrictedSession, 'pinnedAccount' | 'mayRead'>,
) {
  const account = settledAccount(undefined, pinnedAccount)
  const direct = fixed.find((resource) => resource.uri === uri && mayRead(resource.route))
  if (direct) return { ...direct, request: direct.request(account, '') }
  for (const template of templates) {
    const [prefix = ''] = template.uriTemplate.split('{')
    const value = uri.startsWith(prefix) ? decoded(uri.slice(prefix.length)) : ''
    if (value && mayRead(template.route))
      return { ...template, request: template.request(account, value) }
  }
  return undefined
}

/** One path segment, decoded; empty when it is none. */
function decoded(segment: string): string {
  try {
    return segment.includes('/') ? '' : decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/** Whose key is taken out of errors, and whom to tell about bugs of our own. */
interface Guarding {
  readonly session: Pick<Session, 'redact'>
  readonly onBug: ReadContext['onBug']
}

/** Failures as the protocol's errors: what does not exist is not found, the rest says why. */
export async function guarded<T>(
  uri: string,
  { session, onBug }: Guarding,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (!(error instanceof ApiError)) {
      onBug(error)
      throw new ProtocolError(
        -32603,
        `${uri}: a defect in voice-agent-mcp; its log has the details.`,
      )
    }
    const { failure } = error
    const isMissing =
      failure.kind === 'bad_parameter' || (failure.kind === 'rejected' && failure.status === 404)
    if (isMissing) throw new ResourceNotFoundError(session.redact(uri))
    const isBadAddress = failure.kind === 'rejected' && failure.status === 422
    throw new ProtocolError(
      isBadAddress ? -32602 : -32603,
      session.redact(`${uri} could not be read (${saidBy(failure)}).`),
      { uri },
    )
  }
}
