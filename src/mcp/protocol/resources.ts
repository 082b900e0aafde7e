import {
  type ListResourcesResult,
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { viewAt } from '../../apps/views.ts'
import { routes } from '../../contract/routes.ts'
import { settledAccount } from '../../session/account.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import { messageText } from '../../text/client-text.ts'
import { safeJson, safeLine } from '../../text/safe-text.ts'
import { errorMetaKey } from '../call/error-result.ts'
import { offsetOf, unknownCursor } from './cursor.ts'
import { withProtocolErrors } from './read-error.ts'
import { fixedResources, mimeType, sourceOf } from './resource-catalogue.ts'
import { unchangingCacheHint } from './server-info.ts'
import { viewContents, viewResources } from './view-resources.ts'

/** What is needed to read for a client besides its tool calls. */
export interface ReadContext {
  readonly session: RestrictedSession
  /** Receives errors that are defects of this program. */
  readonly onBug: (error: unknown) => void
}

/** Agents on each page of the list. */
const agentsPerPage = 100

/** A page of resources: those with a fixed address first, then the account's agents. */
export async function listResources(
  context: ReadContext,
  {
    cursor,
    views,
    signal,
  }: {
    readonly cursor: string | undefined
    /** The client shows views. */
    readonly views: boolean
    readonly signal: AbortSignal
  },
): Promise<ListResourcesResult> {
  const offset = offsetOf(cursor)
  const { session } = context
  const first = offset === 0 ? [...fixedResources(session), ...(views ? viewResources() : [])] : []
  const listsAgents = session.mayRead(routes.agents.list) && session.mayRead(routes.agents.get)
  if (!listsAgents) return { resources: first }
  try {
    const page = await agentsPage(context, offset, signal)
    return { ...page, resources: [...first, ...page.resources] }
  } catch (error) {
    if (offset > 0 || !(error instanceof ProtocolError)) throw error
    // The fixed resources are listed without the agents, and `_meta` tells why they are missing.
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

const agentResource = ({
  id,
  name,
  note,
}: {
  id: string
  name?: string | null | undefined
  note?: string | null | undefined
}): Resource => ({
  uri: `voice-agents://agents/${encodeURIComponent(id)}`,
  name: safeLine(`agent-${id}`),
  title: safeLine(name || `Agent ${id}`),
  ...(note && { description: safeLine(note) }),
  mimeType,
})

/**
 * The contents of one resource. Clients may reuse them for as long as this server does, each for
 * its own user only. Throws ResourceNotFoundError and ProtocolError.
 */
export async function readResource(
  context: ReadContext,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const { session } = context
  const view = viewAt(uri)
  if (view) return { contents: [await viewContents(view)], ...unchangingCacheHint }
  const source = sourceOf(uri, session)
  if (!source) throw new ResourceNotFoundError(session.redact(uri))
  const { route, request, cacheTime } = source
  const value = await withProtocolErrors(uri, context, () =>
    cacheTime
      ? session.cache.read(route, request, cacheTime)
      : session.client.call(route, request, signal),
  )
  return {
    contents: [{ uri, mimeType, text: safeJson(JSON.stringify(value)) }],
    ttlMs: cacheTime ? session.cache.cacheMs(cacheTime) : 0,
    cacheScope: 'private',
  }
}
