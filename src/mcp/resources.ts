import {
  type ListResourcesResult,
  ProtocolError,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { ApiError } from '../api/failure.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { errorMetaKey } from './call.ts'
import type { Session } from './session.ts'

/** Whose resources, and whom to tell about bugs of our own. */
export interface ReadContext {
  readonly session: Session
  readonly onBug: (error: unknown) => void
}

const mimeType = 'application/json'
const own = { account_id: 'me' }

/** A resource with a fixed address. */
interface FixedResource {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly read: (session: Session, signal: AbortSignal) => Promise<unknown>
}

/** A family of resources whose address holds one variable. */
interface ResourceTemplate {
  readonly uriTemplate: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly read: (session: Session, value: string, signal: AbortSignal) => Promise<unknown>
}

const request = (more: Partial<RouteRequest> = {}): RouteRequest => ({
  query: {},
  ...more,
  params: { ...own, ...more.params },
})

const fixed: readonly FixedResource[] = [
  {
    uri: 'voice-agents://account',
    name: 'account',
    title: 'Account',
    description: 'The account of the API key.',
    read: ({ client }, signal) => client.call(routes.accounts.current, request(), signal),
  },
  {
    uri: 'voice-agents://catalog/models',
    name: 'models',
    title: 'Language models',
    description: 'Catalog of language models by provider, with ratings and prices.',
    read: ({ client }, signal) => client.call(routes.providers.models, request(), signal),
  },
  {
    uri: 'voice-agents://catalog/transcribers',
    name: 'transcribers',
    title: 'Transcribers',
    description: 'Catalog of transcribers by provider, with the languages they take.',
    read: ({ client }, signal) => client.call(routes.providers.transcribers, request(), signal),
  },
]

const templates: readonly ResourceTemplate[] = [
  {
    uriTemplate: 'voice-agents://catalog/voices/{provider}',
    name: 'voices',
    title: 'Voices of a provider',
    description: 'Live catalog of the voices of one provider, such as elevenlabs.',
    read: ({ client }, provider, signal) =>
      client.call(routes.providers.voices, request({ query: { provider } }), signal),
  },
  {
    uriTemplate: 'voice-agents://agents/{agent_id}',
    name: 'agent',
    title: 'Agent',
    description: 'Full configuration of one agent of the account.',
    read: ({ client }, agent_id, signal) =>
      client.call(routes.agents.get, request({ params: { agent_id } }), signal),
  },
]

export const resourceTemplates = templates.map(({ read: _, ...listed }) => ({
  ...listed,
  mimeType,
}))

/** Agents listed with each page of resources. */
const agentsPerPage = 100

/** A page of resources: the fixed ones first, then the account's agents. */
export async function listResources(
  context: ReadContext,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListResourcesResult> {
  const offset = offsetOf(cursor)
  const fixedOnes =
    offset === 0 ? fixed.map(({ read: _, ...listed }) => ({ ...listed, mimeType })) : []
  try {
    const page = await agentsPage(context, offset, signal)
    return { ...page, resources: [...fixedOnes, ...page.resources] }
  } catch (error) {
    // The catalogs are still there when the agents cannot be listed; what is missing is said.
    if (offset > 0 || !(error instanceof ProtocolError)) throw error
    return { resources: fixedOnes, _meta: { [errorMetaKey]: error.message } }
  }
}

async function agentsPage(context: ReadContext, offset: number, signal: AbortSignal) {
  const query = { limit: agentsPerPage, offset }
  const { count, items } = await guarded('voice-agents://agents', context, () =>
    context.session.client.call(routes.agents.list, request({ query }), signal),
  )
  const resources: Resource[] = items.map(({ id, name, note }) => ({
    uri: `voice-agents://agents/${encodeURIComponent(id)}`,
    name: `agent-${id}`,
    title: name || `Agent ${id}`,
    ...(note && { description: note }),
    mimeType,
  }))
  const seen = offset + items.length
  return { resources, ...(items.length > 0 && seen < (count ?? 0) && { nextCursor: String(seen) }) }
}

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor)
  throw new ProtocolError(-32602, 'The cursor is not one that this server gave.')
}

/** The contents of one resource; a miss is the protocol's resource-not-found error. */
export async function readResource(context: ReadContext, uri: string, signal: AbortSignal) {
  const read = readerOf(uri)
  if (!read) throw new ResourceNotFoundError(uri)
  const value = await guarded(uri, context, () => read(context.session, signal))
  return { contents: [{ uri, mimeType, text: JSON.stringify(value) }] }
}

function readerOf(uri: string): FixedResource['read'] | undefined {
  const direct = fixed.find((resource) => resource.uri === uri)
  if (direct) return direct.read
  for (const template of templates) {
    const [prefix = ''] = template.uriTemplate.split('{')
    const value = uri.startsWith(prefix) ? decoded(uri.slice(prefix.length)) : ''
    if (value) return (session, signal) => template.read(session, value, signal)
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

/** Failures as the protocol's errors: what does not exist is not found, the rest says why. */
async function guarded<T>(
  uri: string,
  { session, onBug }: ReadContext,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
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
    if (isMissing) throw new ResourceNotFoundError(uri)
    const said =
      failure.kind === 'rejected'
        ? `${failure.status} ${failure.code}: ${failure.message}`
        : failure.kind === 'unreadable'
          ? `HTTP ${failure.status}, ${failure.reason}`
          : failure.kind
    const isBadAddress = failure.kind === 'rejected' && failure.status === 422
    throw new ProtocolError(
      isBadAddress ? -32602 : -32603,
      session.redact(`${uri} could not be read (${said}).`),
      { uri },
    )
  }
}
