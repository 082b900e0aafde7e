import {
  type ListResourcesResult,
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  type Server,
  type TextResourceContents,
} from '@modelcontextprotocol/server'
import {
  type ViewName,
  viewAt,
  viewMimeType,
  viewNames,
  viewTitles,
  viewUri,
} from '../apps/views.ts'
import type { Agent } from '../contract/agent.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { settledAccount } from '../platform/sessions/account.ts'
import type { CacheLifetime } from '../platform/sessions/reply-cache.ts'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import { messageText, safeJson, safeLine } from '../text/safe-text.ts'
import { errorMetaKey } from '../tool/result.ts'
import { type ServedRequest, showsViews } from './client-of-request.ts'
import { agentIds, type CompletionSource, voiceProviderCodes } from './completions.ts'
import { notFound, offsetOf, refuseCursor, unknownCursor, withProtocolErrors } from './errors.ts'
import { unchangingCacheHint } from './server-info.ts'
import { type SkillContext, skillContents, skillResources } from './skills.ts'

/** `resources/list`, `resources/templates/list` and `resources/read`. */
export function serveResources(
  server: Server,
  request: ServedRequest,
  context: ResourceContext,
): void {
  server.setRequestHandler('resources/list', ({ params }, requestContext) =>
    listResources(
      context,
      params?.cursor,
      showsViews(server, requestContext, request),
      requestContext.mcpReq.signal,
    ),
  )
  server.setRequestHandler('resources/templates/list', ({ params }) => {
    refuseCursor(params)
    return { resourceTemplates: resourceTemplates(context.session) }
  })
  server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
    readResource(context, params.uri, signal),
  )
}

/** Context for resources, prompts and completions. */
export interface ReadContext {
  readonly session: RestrictedSession
  /** Called with every unexpected error, which is a bug of this program. */
  readonly onBug: (error: unknown) => void
}

export interface ResourceContext extends ReadContext, SkillContext {}

const agentsPerPage = 100

/** A page of resources: fixed URIs first, then the account's agents. */
async function listResources(
  context: ResourceContext,
  cursor: string | undefined,
  /** True if the client shows views. */
  views: boolean,
  signal: AbortSignal,
): Promise<ListResourcesResult> {
  const offset = offsetOf(cursor)
  const { session } = context
  const fixedOnes = [...fixedResources(session), ...skillResources(context)]
  const first = offset > 0 ? [] : [...fixedOnes, ...(views ? viewResources() : [])]
  const listsAgents = session.mayRead(routes.agents.list) && session.mayRead(routes.agents.get)
  if (!listsAgents) return { resources: first }
  try {
    const page = await agentsPage(context, offset, signal)
    return { ...page, resources: [...first, ...page.resources] }
  } catch (error) {
    if (offset > 0 || !(error instanceof ProtocolError)) throw error
    // The fixed resources are listed without the agents; `_meta` has the reason.
    return { resources: first, _meta: { [errorMetaKey]: messageText(error.message) } }
  }
}

async function agentsPage(context: ReadContext, offset: number, signal: AbortSignal) {
  const { session } = context
  const request = {
    params: { account_id: settledAccount(undefined, session.pinnedAccount) },
    query: { limit: agentsPerPage, offset },
  }
  const { count, items } = await withProtocolErrors('voice-agents://agents', context, () =>
    session.client.call(routes.agents.list, request, signal),
  )
  // Agents may be deleted between two pages: an empty page at the end is not an error.
  if (items.length === 0 && offset > (count ?? offset)) throw unknownCursor()
  const next = offset + items.length
  const hasMore = items.length > 0 && next < (count ?? 0)
  return { resources: items.map(agentResource), ...(hasMore && { nextCursor: String(next) }) }
}

const agentResource = ({ id, name, note }: Agent): Resource => ({
  uri: `voice-agents://agents/${encodeURIComponent(id)}`,
  name: safeLine(`agent-${id}`),
  title: safeLine(name || `Agent ${id}`),
  ...(note && { description: safeLine(note) }),
  mimeType,
})

/**
 * Reads one resource. A client may cache it as long as this server does, for its own user only.
 * Throws ResourceNotFoundError and ProtocolError.
 */
export async function readResource(
  context: ResourceContext,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const { session } = context
  const view = viewAt(uri)
  if (view) return { contents: [await viewContents(view)], ...unchangingCacheHint }
  const skill = skillContents(uri, context)
  if (skill) return { contents: [skill], ...unchangingCacheHint }
  const source = sourceOf(uri, session)
  if (!source) throw notFound(uri, session)
  const { route, request, cacheLifetime } = source
  const value = await withProtocolErrors(uri, context, () =>
    cacheLifetime
      ? session.cache.read(route, request, cacheLifetime)
      : session.client.call(route, request, signal),
  )
  return {
    contents: [{ uri, mimeType, text: safeJson(JSON.stringify(value)) }],
    ttlMs: cacheLifetime ? session.cache.cacheMs(cacheLifetime) : 0,
    cacheScope: 'private',
  }
}

const mimeType = 'application/json'

/** A resource as listed, and the platform request that reads it. */
interface ResourceSource {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly route: Route
  readonly request: (account_id: string, value: string) => RouteRequest
  /** Cache lifetime of a reply, here and in clients; absent: no caching. */
  readonly cacheLifetime?: CacheLifetime
}

/** A resource with a fixed URI. */
interface FixedResource extends ResourceSource {
  readonly uri: string
}

/** Resources whose URIs differ in one variable at the end. */
interface ResourceTemplate extends ResourceSource {
  readonly uriTemplate: string
  /** Completion values for the variable. */
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
    cacheLifetime: 'catalog',
  },
  {
    uri: 'voice-agents://catalog/transcribers',
    name: 'transcribers',
    title: 'Transcribers',
    description: 'Catalog of transcribers by provider, with the languages they take.',
    route: routes.providers.transcribers,
    request: ofAccount,
    cacheLifetime: 'catalog',
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
    cacheLifetime: 'catalog',
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

const listed = <T extends ResourceSource>({
  route: _,
  request: __,
  cacheLifetime: ___,
  ...shown
}: T) => ({ ...shown, mimeType })

type Readable = Pick<RestrictedSession, 'mayRead'>

/** Listed resources with fixed URIs that an exposed tool can read. */
const fixedResources = ({ mayRead }: Readable) =>
  fixed.filter(({ route }) => mayRead(route)).map(listed)

/** Listed templates of resources that an exposed tool can read. */
export const resourceTemplates = ({ mayRead }: Readable) =>
  templates
    .filter(({ route }) => mayRead(route))
    .map(({ completion: _, ...template }) => listed(template))

/** The template with exactly this text, if an exposed tool can read its resources. */
export const templateAt = (uriTemplate: string, { mayRead }: Readable) =>
  templates.find((template) => template.uriTemplate === uriTemplate && mayRead(template.route))

/** Source of the resource with this URI; `undefined`: no exposed tool can read it. */
export function sourceOf(
  uri: string,
  { pinnedAccount, mayRead }: Pick<RestrictedSession, 'pinnedAccount' | 'mayRead'>,
) {
  const account = settledAccount(undefined, pinnedAccount)
  const resource = fixed.find((one) => one.uri === uri && mayRead(one.route))
  if (resource) return { ...resource, request: resource.request(account, '') }
  for (const template of templates) {
    const [prefix = ''] = template.uriTemplate.split('{')
    const value = uri.startsWith(prefix) ? decodedSegment(uri.slice(prefix.length)) : ''
    if (value && mayRead(template.route)) {
      return { ...template, request: template.request(account, value) }
    }
  }
  return undefined
}

/** True if the URI matches this server's resources. The resource itself may be missing. */
export const isResourceAddress = (uri: string) =>
  sourceOf(uri, { pinnedAccount: undefined, mayRead: () => true }) !== undefined

/** Decodes one path segment; empty if the text has a slash or is malformed. */
function decodedSegment(segment: string): string {
  try {
    return segment.includes('/') ? '' : decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/**
 * Metadata by which hosts sandbox views: no network access, no other origins. Empty lists are the
 * strictest policy of the MCP Apps specification.
 */
const _meta = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
}

/** Views in `resources/list`, for clients that show them. */
const viewResources = (): Resource[] =>
  viewNames.map((name) => ({
    uri: viewUri(name),
    name: `${name}-view`,
    ...viewTitles[name],
    mimeType: viewMimeType,
    _meta,
  }))

/** HTML of a view, with its metadata. */
async function viewContents(view: ViewName): Promise<TextResourceContents> {
  const { readView } = await import('../apps/read-view.ts')
  return { uri: viewUri(view), mimeType: viewMimeType, text: await readView(view), _meta }
}
