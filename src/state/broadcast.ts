/**
 * Announces events to all servers that share a PostgreSQL database, and within this server with
 * SQLite: a write on the platform, a cancelled task or request. Delivery is unordered and best effort. A server that misses an event sees its effect at
 * the next read.
 */
export interface Broadcast {
  /**
   * Notifies this server's listeners at once, and other servers' listeners if reachable. Never
   * throws.
   */
  announce(event: Announcement): void
  /** Calls `listener` with the topic of each event of a kind. Returns the unsubscribe function. */
  listen(kind: AnnouncementKind, listener: (topic: string) => void): () => void
  close(): Promise<void>
}

/** Kinds of events. To add a kind, such as a revoked grant, add its name here. */
export const announcementKinds = ['written', 'cancelled_task', 'cancelled_request'] as const
export type AnnouncementKind = (typeof announcementKinds)[number]

interface Announcement {
  readonly kind: AnnouncementKind
  /** Identifies the object, as a hash: every server receives it. */
  readonly topic: string
}

/** Listeners by the key they listen to. */
export class Listeners<K> {
  readonly #listeners = new Map<K, Set<(topic: string) => void>>()

  add(key: K, listener: (topic: string) => void): () => void {
    const ofKey = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, ofKey)
    // A new function for each call, because the same listener may be added twice.
    const added = (topic: string) => listener(topic)
    ofKey.add(added)
    return () => {
      ofKey.delete(added)
      if (ofKey.size === 0 && this.#listeners.get(key) === ofKey) this.#listeners.delete(key)
    }
  }

  notify(key: K, topic: string): void {
    for (const listener of this.#listeners.get(key) ?? []) listener(topic)
  }
}

/** A broadcast within one process, for a server without a shared database. */
export function createLocalBroadcast(): Broadcast {
  const listeners = new Listeners<AnnouncementKind>()
  return {
    announce: ({ kind, topic }) => listeners.notify(kind, topic),
    listen: (kind, listener) => listeners.add(kind, listener),
    close: async () => undefined,
  }
}
