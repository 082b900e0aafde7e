import { LRUCache } from 'lru-cache'
import { encodeQuery, type ReplyOf, type Route, type RouteRequest } from '../../contract/route.ts'
import type { CacheResult } from '../../server/observe/observer.ts'
import type { Client } from '../client.ts'
import {
  type ReplyChanges,
  type WatchBounds,
  type WatchCount,
  WatchedReplies,
} from './watched-replies.ts'

/**
 * Cached replies to reads with one API key: catalogs, names, the key's own account. Works as
 * stale-while-revalidate: an expired reply is returned once more while it is read again in the
 * background.
 */
export interface ReplyCache {
  /** Returns the cached reply, or reads it. Throws the client's error if there is neither. */
  read<R extends Route>(
    route: R,
    request: RouteRequest,
    lifetime: CacheLifetime,
  ): Promise<ReplyOf<R>>
  /** Reads from the platform in any case, and replaces the cached reply. */
  refresh<R extends Route>(
    route: R,
    request: RouteRequest,
    lifetime: CacheLifetime,
  ): Promise<ReplyOf<R>>
  /**
   * Calls `onChange` when the reply differs from the previous one. The reply is read again whenever
   * it expires, and when a server reports a possible change. A failed read changes nothing. Returns
   * the unsubscribe function. Throws WatchLimitError.
   */
  watch(
    route: Route,
    request: RouteRequest,
    lifetime: CacheLifetime,
    onChange: () => void,
  ): () => void
  /** Time to live of a reply, ms. */
  cacheMs(lifetime: CacheLifetime): number
}

/** Time to live of replies, ms, by content. The time of catalogs is a setting. */
const lifetimes = { account: 3_600_000, watched: 60_000, names: 30_000 }
export type CacheLifetime = keyof typeof lifetimes | 'catalog'

/** Maximum number of replies per API key. */
const maxReplies = 64

/**
 * Maximum total length of the replies per API key, characters of JSON. Parsed, they take several
 * times as much memory.
 */
const maxLength = 8 * 1024 * 1024

/**
 * Maximum total length of the replies of all API keys, characters of JSON. Above it, the least
 * recently used keys lose their replies.
 */
const maxLengthInAll = 32 * 1024 * 1024

/** Maximum number of API keys with cached replies. */
const maxKeys = 256

/** Context of a cache read. */
interface CachedRead {
  readonly route: Route
  readonly request: RouteRequest
}

/** Wraps a reply. lru-cache cannot store `undefined`, which a reply may be. */
interface CachedReply {
  readonly reply: unknown
  /** Length of the reply as JSON, characters. */
  readonly length: number
}

/** Cached replies of one API key. */
type CachedReplies = LRUCache<string, CachedReply, CachedRead>

/**
 * Total length of the replies of each API key. Above a limit, the least recently used key loses its
 * replies.
 */
type ReplyLengths = LRUCache<CachedReplies, number>

const createReplyLengths = (): ReplyLengths =>
  new LRUCache({
    max: maxKeys,
    maxSize: maxLengthInAll,
    // lru-cache requires a size of at least 1.
    sizeCalculation: (length) => length + 1,
    noDisposeOnSet: true,
    dispose: (_, replies) => replies.clear(),
  })

/** Creates the store of one API key's replies. `onReply` receives every reply that is read. */
const createCachedReplies = (
  client: Client,
  ttl: number,
  onReply: (key: string, reply: unknown) => void,
): CachedReplies =>
  new LRUCache({
    max: maxReplies,
    maxSize: maxLength,
    sizeCalculation: ({ length }) => length,
    ttl,
    // A reader that aborts must not cancel the read for the others.
    ignoreFetchAbort: true,
    allowStale: true,
    noDeleteOnFetchRejection: true,
    async fetchMethod(key, _stale, { context: { route, request } }) {
      const reply = await client.call(route, request)
      onReply(key, reply)
      return { reply, length: JSON.stringify(reply)?.length ?? 1 }
    },
  })

interface CacheOptions {
  /** Time to live of catalogs, ms. */
  readonly catalogMs: number
  readonly watched: WatchBounds
  readonly changes: ReplyChanges
  /** Called for every read, with the source of its reply. */
  readonly onRead: ((result: CacheResult) => void) | undefined
}

/** State shared by the caches of all keys. */
interface SharedByCaches extends Pick<CacheOptions, 'changes' | 'onRead'> {
  readonly times: Readonly<Record<CacheLifetime, number>>
  readonly watchCount: WatchCount
  readonly lengths: ReplyLengths
}

function createReplyCache(
  client: Client,
  keyHash: string,
  { times, watchCount, lengths, changes, onRead }: SharedByCaches,
): ReplyCache {
  const watched = new WatchedReplies(watchCount)
  const replies = createCachedReplies(client, times.catalog, (key, reply) =>
    watched.compare(key, reply),
  )
  const fetch = async <R extends Route>(
    route: R,
    request: RouteRequest,
    options: { ttl: number; forceRefresh?: boolean; allowStale?: boolean },
  ) => {
    const key = keyOf(route, request)
    const status: LRUCache.Status<string, CachedReply, CachedRead> = {}
    const read = replies.forceFetch(key, { ...options, context: { route, request }, status })
    onRead?.(resultOf(status.fetch))
    const { reply } = await read
    lengths.set(replies, replies.calculatedSize)
    // The cache key contains the route, so this reply belongs to the route.
    return reply as ReplyOf<R>
  }
  const read: ReplyCache['read'] = (route, request, lifetime) =>
    fetch(route, request, { ttl: times[lifetime] })
  const refresh: ReplyCache['refresh'] = (route, request, lifetime) =>
    fetch(route, request, { ttl: times[lifetime], forceRefresh: true, allowStale: false })
  return {
    read,
    refresh,
    cacheMs: (lifetime) => times[lifetime],
    watch(route, request, lifetime, onChange) {
      const key = keyOf(route, request)
      const reply = { route, request, keyHash }
      // One timer for all watchers of this reply.
      const stop = watched.add(key, onChange, () => {
        const again = oneAtATime(() => refresh(route, request, lifetime).catch(ignore))
        const timer = setInterval(again, times[lifetime]).unref()
        const stopHearing = changes.watch(reply, again)
        return {
          changed: () => changes.found(reply),
          end() {
            clearInterval(timer)
            stopHearing()
          },
        }
      })
      // Reads the reply with which later ones are compared. Runs after the caller's own code,
      // because a caller that is over its watch limit ends this watch at once.
      queueMicrotask(() => {
        if (!watched.has(key)) return
        read(route, request, lifetime).then((reply) => watched.compare(key, reply), ignore)
      })
      return stop
    },
  }
}

const ignore = () => undefined

/** Runs work one run at a time. Any number of requests during a run lead to one more run. */
function oneAtATime(work: () => Promise<unknown>): () => void {
  let isRunning = false
  let isWanted = false
  const run = async () => {
    isWanted = true
    if (isRunning) return
    isRunning = true
    while (isWanted) {
      isWanted = false
      await work()
    }
    isRunning = false
  }
  return () => void run()
}

/** A read that joins a pending read of the same reply counts as a cache miss. */
const resultOf = (fetched: string | undefined): CacheResult =>
  fetched === 'hit' || fetched === 'stale' ? fetched : 'miss'

const keyOf = (route: Route, { params, query }: RouteRequest) =>
  `${route.id} ${JSON.stringify(params)} ${encodeQuery(query)}`

/**
 * Returns the cache of an API key, by the hash of the key. API keys are not stored. A cache lives
 * while something uses it, such as a session or an open stream, so that all users of the key share
 * its replies.
 */
export function createReplyCaches({
  catalogMs,
  watched,
  changes,
  onRead,
}: CacheOptions): (keyHash: string, client: Client) => ReplyCache {
  const times = {
    ...lifetimes,
    catalog: catalogMs,
    watched: Math.min(lifetimes.watched, catalogMs),
  }
  const watchCount = { bounds: watched, count: 0 }
  const shared = { times, watchCount, lengths: createReplyLengths(), changes, onRead }
  const inUse = new Map<string, WeakRef<ReplyCache>>()
  const collected = new FinalizationRegistry<string>((keyHash) => {
    if (!inUse.get(keyHash)?.deref()) inUse.delete(keyHash)
  })
  return (keyHash, client) => {
    const known = inUse.get(keyHash)?.deref()
    if (known) return known
    const cache = createReplyCache(client, keyHash, shared)
    inUse.set(keyHash, new WeakRef(cache))
    collected.register(cache, keyHash)
    return cache
  }
}
