import { INVALID_PARAMS, ProtocolError, type Server } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import { WatchLimitError } from '../platform/sessions/watched-replies.ts'
import { isResourceAddress, type ResourceContext, readResource, sourceOf } from './resources.ts'

/**
 * `resources/subscribe` and `resources/unsubscribe` of the 2025 revisions, over stdio only, where
 * the process ends with the connection, and the subscriptions with it. The transports serve
 * `subscriptions/listen` of the later revision.
 */
export function serveSubscriptions(server: Server, context: ResourceContext): void {
  const stops = new Map<string, () => void>()
  const end = (uri: string) => {
    stops.get(uri)?.()
    stops.delete(uri)
  }
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, { mcpReq }) => {
    await refuseMissing(context, uri, mcpReq.signal)
    // A client expects no notifications of a request that it cancelled.
    if (mcpReq.signal.aborted) return {}
    end(uri)
    const notify = () => server.sendResourceUpdated({ uri }).catch(() => undefined)
    stops.set(uri, watchOne(context, uri, notify))
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    end(uri)
    return {}
  })
}

function watchOne({ session }: ResourceContext, uri: string, onUpdate: () => void): () => void {
  try {
    return watchResources(session, [uri], onUpdate)
  } catch (error) {
    if (error instanceof WatchLimitError) throw new ProtocolError(-32000, error.message)
    throw error
  }
}

/**
 * Throws ProtocolError if the resource does not exist. After any other error, the resource is
 * watched: it may be readable later.
 */
async function refuseMissing(
  context: ResourceContext,
  uri: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await readResource(context, uri, signal)
  } catch (error) {
    if (error instanceof ProtocolError && error.code === INVALID_PARAMS) throw error
  }
}

/** Maximum resources of one `subscriptions/listen` request. */
const maxWatched = 100

const Listen = z.looseObject({
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
  }),
})

/**
 * Removes resources that cannot be watched from a `subscriptions/listen` message, and returns the
 * URIs of the others. The SDK acknowledges every resource in the message, and a client expects
 * notifications for each acknowledged one.
 */
export function watchedOnly<T>(message: T): {
  readonly message: T
  readonly uris: readonly string[]
} {
  const { data } = Listen.safeParse(message)
  if (!data) return { message, uris: [] }
  const { params } = data
  const uris = watchable(params.notifications.resourceSubscriptions)
  const notifications = { ...params.notifications, resourceSubscriptions: uris }
  return { message: { ...message, params: { ...params, notifications } }, uris }
}

/** The URIs that this server can watch, without duplicates, up to the limit. */
const watchable = (uris: readonly string[]): string[] =>
  [...new Set(uris)].filter(isResourceAddress).slice(0, maxWatched)

/**
 * Calls `onUpdate` whenever the contents of one of the resources change, until the returned function
 * is called. Ignores addresses that cannot be watched. Throws WatchLimitError.
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
    for (const uri of uris) {
      const source = sourceOf(uri, session)
      if (!source) continue
      const { route, request, cacheLifetime = 'watched' } = source
      stops.push(session.cache.watch(route, request, cacheLifetime, () => onUpdate(uri)))
    }
  } catch (error) {
    stopAll()
    throw error
  }
  return stopAll
}
