import { LRUCache } from 'lru-cache'
import { encodeQuery } from '../../contract/query.ts'
import type { ReplyOf, Route, RouteRequest } from '../../contract/route.ts'
import type { CacheResult } from '../../server/observe/records.ts'
import type { Client } from '../client.ts'
import {
  noReplyChanges,
  type ReplyChanges,
  type ReplyName,
  type WatchBounds,
  type WatchCount,
  WatchedReplies,
} from './watched-replies.ts'

/**
 * Replies to reads with one API key, kept for a while: catalogs, names, the key's own account. A
 * reply that is older than its time is returned once more while it is read again in the background.
 */
export interface ReplyCache {
  /** Throws what the client throws if there is no reply to return. */
  read<R extends Route>(route: R, request: RouteRequest, time: CacheTime): Promise<ReplyOf<R>>
  /** Reads from the platform in any case, and replaces the kept reply. */
  refresh<R extends Route>(route: R, request: RouteRequest, time: CacheTime): Promise<ReplyOf<R>>
  /**
   * Calls `onChange` whenever the reply differs from the one before; for that it is read again each
   * time it is too old, and when a server says that it may have changed. A failed read changes nothing.
   * Returns the function that ends this. Throws WatchLimitError.
   */
  watch(route: Route, request: RouteRequest, time: CacheTime, onChange: () => void): () => void
  /** How long a reply is returned before it is read again, ms. */
  cacheMs(time: CacheTime): number
}

/** How long replies are returned before they are read again, ms, by what they hold. */
const cacheTimes = { account: 3_600_000, catalog: 300_000, watched: 60_000, names: 30_000 }
type CacheTimes = typeof cacheTimes
export type CacheTime = keyof CacheTimes

/** Replies that are kept for one key, and their length as JSON: parsed they take several times that. */
const maxReplies = 64
const maxLength = 8 * 1024 * 1024

/** The same length for all keys together. Where it is more, the keys used least recently lose theirs. */
const maxLengthInAll = 32 * 1024 * 1024

/** Keys with replies; those that were used least recently are dropped. */
const maxKeys = 256

const defaultWatched: WatchBounds = { inAll: 2500, perKey: 250 }

/** What a read of the cache needs to ask the platform. */
interface CachedRead {
  readonly route: Route
  readonly request: RouteRequest
}

/** A reply in an object, because a reply may be `undefined`, which lru-cache does not store. */
interface CachedReply {
  readonly reply: unknown
  /** Length of the reply as JSON, in characters. */
  readonly length: number
}

/** The replies of one key. */
type KeptReplies = LRUCache<string, CachedReply, CachedRead>

/** How much the replies of each key take; the ones used least recently are dropped. */
type KeptLengths = LRUCache<KeptReplies, number>

const createKeptLengths = (): KeptLengths =>
  new LRUCache({
    max: maxKeys,
    maxSize: maxLengthInAll,
    // lru-cache requires a size of at least 1.
    sizeCalculation: (length) => length + 1,
    noDisposeOnSet: true,
    dispose: (_, replies) => replies.clear(),
  })

/** `onReply` is called with every reply that is read. */
const createKeptReplies = (
  client: Client,
  ttl: number,
  onReply: (key: string, reply: unknown) => void,
): KeptReplies =>
  new LRUCache({
    max: maxReplies,
    maxSize: maxLength,
    sizeCalculation: ({ length }) => length,
    ttl,
    // One reader that gives up must not cancel the read for the others that wait for it.
    ignoreFetchAbort: true,
    allowStale: true,
    noDeleteOnFetchRejection: true,
    async fetchMethod(key, _stale, { context: { route, request } }) {
      const reply = await client.call(route, request)
      onReply(key, reply)
      return { reply, length: JSON.stringify(reply)?.length ?? 1 }
    },
  })

/** What the caches of all keys have in common. */
interface SharedByCaches {
  readonly onRead: ((result: CacheResult) => void) | undefined
  readonly watchCount: WatchCount
  readonly lengths: KeptLengths
  readonly changes: ReplyChanges
}

function createReplyCache(
  client: Client,
  times: CacheTimes,
  keyHash: string,
  { watchCount, lengths, changes, onRead }: SharedByCaches,
): ReplyCache {
  const watched = new WatchedReplies(watchCount)
  const replies = createKeptReplies(client, times.catalog, (key, reply) =>
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
    // The key names the route, so this is a reply of that route.
    return reply as ReplyOf<R>
  }
  const reader: Reader = {
    read: (route, request, time) => fetch(route, request, { ttl: times[time] }),
    refresh: (route, request, time) =>
      fetch(route, request, { ttl: times[time], forceRefresh: true, allowStale: false }),
    cacheMs: (time) => times[time],
  }
  return {
    ...reader,
    watch: (route, request, time, onChange) =>
      watchReply({ route, request, time, keyHash }, onChange, { watched, reader, changes }),
  }
}

type Reader = Omit<ReplyCache, 'watch'>

function watchReply(
  reply: ReplyName & { readonly time: CacheTime },
  onChange: () => void,
  { watched, reader, changes }: { watched: WatchedReplies; reader: Reader; changes: ReplyChanges },
): () => void {
  const { route, request, time } = reply
  const key = keyOf(route, request)
  // One timer for all that watch this reply.
  const stop = watched.add(key, onChange, () => {
    const refresh = oneAtATime(() => reader.refresh(route, request, time).catch(ignore))
    const timer = setInterval(refresh, reader.cacheMs(time)).unref()
    const stopHearing = changes.watch(reply, refresh)
    return {
      changed: () => changes.found(reply),
      end() {
        clearInterval(timer)
        stopHearing()
      },
    }
  })
  // The first reply is the one that later replies are compared with. It is read after the caller's
  // own code: a caller that may not watch all it wants ends this watch at once.
  queueMicrotask(() => {
    if (!watched.has(key)) return
    reader.read(route, request, time).then((reply) => watched.compare(key, reply), ignore)
  })
  return stop
}

const ignore = () => undefined

/** Runs work once at a time. Where it is asked for meanwhile, it runs once more afterwards. */
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

/** A read that waits for another read of the same reply counts as one from the platform. */
const resultOf = (fetched: string | undefined): CacheResult =>
  fetched === 'hit' || fetched === 'stale' ? fetched : 'miss'

const keyOf = (route: Route, { params, query }: RouteRequest) =>
  `${route.id} ${JSON.stringify(params)} ${encodeQuery(query)}`

/**
 * The caches of all keys in use, by the hash of the key: the keys themselves are not kept. A cache is
 * found again as long as it is in use, such as by a session that is kept or an open stream, so that each
 * reply is read once for a key.
 */
export function createReplyCaches({
  catalogMs = cacheTimes.catalog,
  watched = defaultWatched,
  changes = noReplyChanges,
  onRead,
}: {
  catalogMs?: number
  watched?: WatchBounds
  changes?: ReplyChanges
  /** Called with every read: where its reply comes from. */
  onRead?: ((result: CacheResult) => void) | undefined
} = {}): (keyHash: string, client: Client) => ReplyCache {
  const times = {
    ...cacheTimes,
    catalog: catalogMs,
    watched: Math.min(cacheTimes.watched, catalogMs),
  }
  const watchCount = { bounds: watched, count: 0 }
  const shared = { watchCount, lengths: createKeptLengths(), changes, onRead }
  const inUse = new Map<string, WeakRef<ReplyCache>>()
  const collected = new FinalizationRegistry<string>((keyHash) => {
    if (!inUse.get(keyHash)?.deref()) inUse.delete(keyHash)
  })
  return (keyHash, client) => {
    const known = inUse.get(keyHash)?.deref()
    if (known) return known
    const cache = createReplyCache(client, times, keyHash, shared)
    inUse.set(keyHash, new WeakRef(cache))
    collected.register(cache, keyHash)
    return cache
  }
}
