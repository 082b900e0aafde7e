import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Client } from '../api/client.ts'
import { encodeQuery } from '../contract/query.ts'
import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'

/**
 * Replies to reads of one API key, kept for a while: catalogs, names, the key's own account. What
 * is stale is handed out once more while it is read anew in the background.
 */
export interface Memory {
  /** Throws what the client throws, when there is nothing to hand out. */
  read<R extends Route>(route: R, request: RouteRequest, ttlMs: number): Promise<ReplyOf<R>>
  /** The same, but not out of memory: what is there is replaced. */
  refresh<R extends Route>(route: R, request: RouteRequest, ttlMs: number): Promise<ReplyOf<R>>
  /** Told when what was read anew in the background differs from what was there. */
  onChange(listener: (changed: { route: Route; request: RouteRequest }) => void): void
}

/** How long what changes at its own pace is handed out before it is read anew, ms. */
export const keptMs = { account: 3_600_000, catalog: 300_000, names: 30_000 } as const

/** Replies kept for one key, and keys kept at all: whoever comes back later reads anew. */
const mostReplies = 64
const mostKeys = 256

interface Reading {
  readonly client: Client
  readonly route: Route
  readonly request: RouteRequest
}

/** A reply; `undefined` is one too, but not to the cache. */
interface Kept {
  readonly reply: unknown
}

function createMemory(client: Client): Memory {
  const listeners: Parameters<Memory['onChange']>[0][] = []
  const cache = new LRUCache<string, Kept, Reading>({
    max: mostReplies,
    ttl: keptMs.catalog,
    // A reader who gives up must not take the reply from the others who wait for it.
    ignoreFetchAbort: true,
    allowStale: true,
    noDeleteOnFetchRejection: true,
    async fetchMethod(_key, stale, { context: { client, route, request } }) {
      const reply = await client.call(route, request)
      if (stale && !isSame(stale.reply, reply)) {
        for (const listener of listeners) listener({ route, request })
      }
      return { reply }
    },
  })
  const fetch = async <R extends Route>(
    route: R,
    request: RouteRequest,
    options: { ttl: number; forceRefresh?: boolean; allowStale?: boolean },
  ) => {
    const key = `${route.id} ${JSON.stringify(request.params)} ${encodeQuery(request.query)}`
    const kept = await cache.forceFetch(key, { ...options, context: { client, route, request } })
    // It was read with this very route, which is part of the key.
    return kept.reply as ReplyOf<R>
  }
  return {
    read: (route, request, ttl) => fetch(route, request, { ttl }),
    refresh: (route, request, ttl) =>
      fetch(route, request, { ttl, forceRefresh: true, allowStale: false }),
    onChange: (listener) => void listeners.push(listener),
  }
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** The memories of all keys that are in use; a key itself is not kept, only what it hashes to. */
export function createMemories(): (apiKey: string, client: Client) => Memory {
  const byKey = new LRUCache<string, Memory>({ max: mostKeys })
  return (apiKey, client) => {
    const key = createHash('sha256').update(apiKey).digest('base64')
    const known = byKey.get(key)
    if (known) return known
    const memory = createMemory(client)
    byKey.set(key, memory)
    return memory
  }
}
