import type { RestrictedSession } from '../../session/restricted-session.ts'
import { isResourceAddress, sourceOf } from './resource-catalogue.ts'

/** Most resources of one subscription. */
const maxWatched = 100

/** The addresses of a subscription that are watched: those of resources, up to the limit. */
export const watchable = (uris: readonly string[]): string[] =>
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
    for (const uri of watchable(uris)) {
      const source = sourceOf(uri, session)
      if (!source) continue
      const { route, request, cacheTime = 'watched' } = source
      stops.push(session.cache.watch(route, request, cacheTime, () => onUpdate(uri)))
    }
  } catch (error) {
    stopAll()
    throw error
  }
  return stopAll
}
