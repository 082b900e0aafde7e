import { hash } from 'node:crypto'
import { encodeQuery, type Route, type RouteRequest } from '../../contract/route.ts'
import { type Broadcast, Listeners } from '../../state/broadcast.ts'
import { canonicalId } from '../../text/canonical-id.ts'

/** Maximum number of watched replies. A reply with several watchers counts once. */
export interface WatchBounds {
  readonly inAll: number
  readonly perKey: number
}

/** The watch limit is reached. The message names the limit. */
export class WatchLimitError extends Error {
  override readonly name = 'WatchLimitError'
  readonly reached: WatchLimit

  constructor(reached: WatchLimit, bound: number) {
    super(`Too many resources are watched: ${bound} ${limitNames[reached]}. Watch fewer.`)
    this.reached = reached
  }
}

/** Names of the watch limits. The HTTP transport enforces `perAddress`. */
type WatchLimit = keyof WatchBounds | 'perAddress'

const limitNames: Readonly<Record<WatchLimit, string>> = {
  inAll: 'in all (--max-watched)',
  perKey: 'for this API key (--max-watched-per-key)',
  perAddress: 'for this client address (--max-watched-per-address)',
}

/** Number of watched replies over all API keys. */
export interface WatchCount {
  readonly bounds: WatchBounds
  count: number
}

/** Callbacks of a watched reply. */
interface Watching {
  /** Called when the reply differs from the previous one. */
  readonly changed: () => void
  /** Called after the last listener is removed. */
  readonly end: () => void
}

interface WatchedReply extends Watching {
  /** Hash of the last reply; `undefined` before the first. */
  lastHash: string | undefined
  readonly listeners: Set<() => void>
}

/** The watched replies of one API key, with listeners and last hash. */
export class WatchedReplies {
  readonly #replies = new Map<string, WatchedReply>()
  readonly #watchCount: WatchCount

  constructor(watchCount: WatchCount) {
    this.#watchCount = watchCount
  }

  /**
   * Adds a listener for the reply with this cache key; returns the function that removes it.
   * `begin` runs for the first listener of a reply. Throws WatchLimitError.
   */
  add(key: string, onChange: () => void, begin: () => Watching): () => void {
    const watched = this.#replies.get(key) ?? this.#open(key, begin)
    // A new function for each call, because the same `onChange` may be added twice.
    const listener = () => onChange()
    watched.listeners.add(listener)
    return () => {
      watched.listeners.delete(listener)
      if (watched.listeners.size > 0 || this.#replies.get(key) !== watched) return
      this.#replies.delete(key)
      this.#watchCount.count--
      watched.end()
    }
  }

  #open(key: string, begin: () => Watching): WatchedReply {
    const { bounds, count } = this.#watchCount
    if (this.#replies.size >= bounds.perKey) throw new WatchLimitError('perKey', bounds.perKey)
    if (count >= bounds.inAll) throw new WatchLimitError('inAll', bounds.inAll)
    const watched: WatchedReply = { lastHash: undefined, listeners: new Set(), ...begin() }
    this.#replies.set(key, watched)
    this.#watchCount.count++
    return watched
  }

  has(key: string): boolean {
    return this.#replies.has(key)
  }

  /** Compares a reply with the previous one, and calls the listeners if it differs. */
  compare(key: string, reply: unknown): void {
    const watched = this.#replies.get(key)
    if (!watched) return
    const newHash = hashOf(JSON.stringify(reply) ?? '')
    const hasChanged = watched.lastHash !== undefined && watched.lastHash !== newHash
    watched.lastHash = newHash
    if (!hasChanged) return
    for (const listener of watched.listeners) listener()
    watched.changed()
  }
}

const hashOf = (text: string) => hash('sha256', text, 'base64url')

/** Identifies a reply by API key and request. */
export interface ReplyName {
  readonly route: Route
  readonly request: RouteRequest
  readonly keyHash: string
}

/** Announces changed replies to all servers that share a state. */
export interface ReplyChanges {
  /** Announces a write: replies about the objects named in the request may have changed. */
  wrote(request: RouteRequest): void
  /** Announces that a reply differs from the previous one. */
  found(reply: ReplyName): void
  /** Calls `onChange` when a reply may have changed. Returns the unsubscribe function. */
  watch(reply: ReplyName, onChange: () => void): () => void
}

/**
 * Announces changes over `broadcast`. `platform` keeps platforms apart. Topics are hashes and
 * reveal nothing.
 */
export function createReplyChanges(broadcast: Broadcast, platform: string): ReplyChanges {
  const watchers = new Listeners<string>()
  let announced: string | undefined
  broadcast.listen('written', (topic) => {
    // Skips a change that this server announced itself, because it has just read that reply.
    if (topic !== announced) watchers.notify(topic, topic)
  })
  const topicOf = (...words: string[]) => hashOf(JSON.stringify([platform, ...words]))
  const topicsOf = ({ params }: RouteRequest) =>
    namedItems(params).map(([name, id]) => topicOf(name, id))
  const replyTopic = ({ route, request: { params, query }, keyHash }: ReplyName) =>
    topicOf('reply', keyHash, route.id, JSON.stringify(params), encodeQuery(query))
  const announce = (topic: string) => broadcast.announce({ kind: 'written', topic })
  return {
    wrote: (request) => topicsOf(request).forEach(announce),
    found(reply) {
      announced = replyTopic(reply)
      announce(announced)
      announced = undefined
    },
    watch(reply, onChange) {
      const topics = [replyTopic(reply), ...topicsOf(reply.request)]
      const stops = topics.map((topic) => watchers.add(topic, onChange))
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

/** The objects that a path names, without the account. */
const namedItems = (params: RouteRequest['params']): [name: string, id: string][] =>
  Object.entries(params).flatMap(([name, value]) =>
    name === 'account_id' || typeof value !== 'string' ? [] : [[name, canonicalId(value)]],
  )
