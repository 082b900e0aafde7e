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
  read<R extends Route>(route: R, request: RouteRequest, kept: KeptFor): Promise<ReplyOf<R>>
  /** The same, but not out of memory: what is there is replaced. */
  refresh<R extends Route>(route: R, request: RouteRequest, kept: KeptFor): Promise<ReplyOf<R>>
  /**
   * Calls back whenever what is read differs from what was read before, and reads it anew each
   * time it is stale for that. Ends with the function it gives back. A failed reading changes nothing.
   * Throws WatchLimitError.
   */
  watch(route: Route, request: RouteRequest, kept: KeptFor, onChange: () => void): () => void
  keptMs(kept: KeptFor): number
}

/** How long what changes at its own pace is handed out before it is read anew, ms. */
const keptMs = { account: 3_600_000, catalog: 300_000, watched: 60_000, names: 30_000 }
export type KeptFor = keyof typeof keptMs

/** Replies kept for one key, and keys kept at all: whoever comes back later reads anew. */
const mostReplies = 64
const mostKeys = 256

/** How many replies may be watched at once; one that many watch counts once. */
export interface WatchBounds {
  readonly inAll: number
  readonly perKey: number
}

const defaultWatched: WatchBounds = { inAll: 2500, perKey: 250 }

/** No more is watched; the message says which limit is reached. */
export class WatchLimitError extends Error {
  override readonly name = 'WatchLimitError'
  readonly reached: keyof WatchBounds

  constructor(reached: keyof WatchBounds, bound: number) {
    const whose = reached === 'perKey' ? 'for this API key' : 'in all'
    const setting = reached === 'perKey' ? '--max-watched-per-key' : '--max-watched'
    super(`Too many resources are watched: ${bound} ${whose} (${setting}). Watch fewer.`)
    this.reached = reached
  }
}

/** Counts what is watched with all keys. */
interface Watching {
  readonly bounds: WatchBounds
  count: number
}

interface Reading {
  readonly route: Route
  readonly request: RouteRequest
}

/** A reply; `undefined` is one too, but not to the cache. */
interface Kept {
  readonly reply: unknown
}

function createMemory(client: Client, times: typeof keptMs, watching: Watching): Memory {
  const watched = new Watched(watching)
  const cache = new LRUCache<string, Kept, Reading>({
    max: mostReplies,
    ttl: times.catalog,
    // A reader who gives up must not take the reply from the others who wait for it.
    ignoreFetchAbort: true,
    allowStale: true,
    noDeleteOnFetchRejection: true,
    async fetchMethod(key, _stale, { context: { route, request } }) {
      const reply = await client.call(route, request)
      watched.seen(key, reply)
      return { reply }
    },
  })
  const fetch = async <R extends Route>(
    route: R,
    request: RouteRequest,
    options: { ttl: number; forceRefresh?: boolean; allowStale?: boolean },
  ) => {
    const key = keyOf(route, request)
    const kept = await cache.forceFetch(key, { ...options, context: { route, request } })
    // It was read with this very route, which is part of the key.
    return kept.reply as ReplyOf<R>
  }
  const anew = { forceRefresh: true, allowStale: false }
  const memory: Memory = {
    read: (route, request, kept) => fetch(route, request, { ttl: times[kept] }),
    refresh: (route, request, kept) => fetch(route, request, { ttl: times[kept], ...anew }),
    keptMs: (kept) => times[kept],
    watch(route, request, kept, onChange) {
      const ttl = times[kept]
      const key = keyOf(route, request)
      const ignore = () => undefined
      // Read by all who watch it together, however many they are.
      const readAgain = () => {
        const timer = setInterval(() => memory.refresh(route, request, kept).catch(ignore), ttl)
        timer.unref()
        return () => clearInterval(timer)
      }
      const stop = watched.add(key, onChange, readAgain)
      // What is kept already is what the watcher has seen, so that is what it is compared with. Not
      // read where the watching is taken back at once, because more was asked for than is allowed.
      queueMicrotask(() => {
        if (!watched.has(key)) return
        fetch(route, request, { ttl }).then((reply) => watched.seen(key, reply), ignore)
      })
      return stop
    },
  }
  return memory
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')

const keyOf = (route: Route, { params, query }: RouteRequest) =>
  `${route.id} ${JSON.stringify(params)} ${encodeQuery(query)}`

interface Entry {
  /** Hash of the reply. */
  last: string | undefined
  readonly listeners: Set<() => void>
  readonly end: () => void
}

/** Who wants to know of which reply, and what each reply last was. */
class Watched {
  readonly #entries = new Map<string, Entry>()
  readonly #watching: Watching

  constructor(watching: Watching) {
    this.#watching = watching
  }

  /** `begin` is called for the first who watches, and what it gives back when the last has gone. */
  add(key: string, onChange: () => void, begin: () => () => void): () => void {
    const entry = this.#entries.get(key) ?? this.#open(key, begin)
    // One and the same function may watch twice.
    const listener = () => onChange()
    entry.listeners.add(listener)
    return () => {
      entry.listeners.delete(listener)
      if (entry.listeners.size > 0 || this.#entries.get(key) !== entry) return
      this.#entries.delete(key)
      this.#watching.count--
      entry.end()
    }
  }

  #open(key: string, begin: () => () => void): Entry {
    const { bounds, count } = this.#watching
    if (this.#entries.size >= bounds.perKey) throw new WatchLimitError('perKey', bounds.perKey)
    if (count >= bounds.inAll) throw new WatchLimitError('inAll', bounds.inAll)
    const entry: Entry = { last: undefined, listeners: new Set(), end: begin() }
    this.#entries.set(key, entry)
    this.#watching.count++
    return entry
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  seen(key: string, reply: unknown): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    const hash = hashOf(JSON.stringify(reply) ?? '')
    const hasChanged = entry.last !== undefined && entry.last !== hash
    entry.last = hash
    if (hasChanged) for (const listener of entry.listeners) listener()
  }
}

/** The memories of all keys that are in use; a key itself is not kept, only what it hashes to. */
export function createMemories({
  catalogMs = keptMs.catalog,
  watched = defaultWatched,
}: {
  catalogMs?: number
  watched?: WatchBounds
} = {}): (apiKey: string, client: Client) => Memory {
  const times = { ...keptMs, catalog: catalogMs, watched: Math.min(keptMs.watched, catalogMs) }
  const watching: Watching = { bounds: watched, count: 0 }
  const byKey = new LRUCache<string, Memory>({ max: mostKeys })
  // Whatever still uses the memory of a key, such as an open stream, shares it with all others: so
  // that each reply is read once, however many keys came in between.
  const inUse = new Map<string, WeakRef<Memory>>()
  const gone = new FinalizationRegistry<string>((key) => {
    if (!inUse.get(key)?.deref()) inUse.delete(key)
  })
  return (apiKey, client) => {
    const key = hashOf(apiKey)
    const known = byKey.get(key) ?? inUse.get(key)?.deref()
    if (known) return known
    const memory = createMemory(client, times, watching)
    byKey.set(key, memory)
    inUse.set(key, new WeakRef(memory))
    gone.register(memory, key)
    return memory
  }
}
