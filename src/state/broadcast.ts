/**
 * Events on one server that concern requests of others: a write on the platform, a cancelled task
 * or request. Delivery is unordered and best effort: each event is also found later by reading.
 */
export interface Broadcast {
  /**
   * Notifies this server's listeners at once, and those of other servers if reachable. Never
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

export interface Announcement {
  readonly kind: AnnouncementKind
  /** Hash of the changed object, sent to every server. */
  readonly topic: string
}

export class Listeners {
  readonly #listeners = new Map<AnnouncementKind, Set<(topic: string) => void>>()

  add(kind: AnnouncementKind, listener: (topic: string) => void): () => void {
    const ofKind = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, ofKind)
    // A wrapper, because the same listener may be added twice.
    const one = (topic: string) => listener(topic)
    ofKind.add(one)
    return () => void ofKind.delete(one)
  }

  notify({ kind, topic }: Announcement): void {
    for (const listener of this.#listeners.get(kind) ?? []) listener(topic)
  }
}

/** Events of servers that share no database: each server hears only its own. */
export function createLocalBroadcast(): Broadcast {
  const listeners = new Listeners()
  return {
    announce: (event) => listeners.notify(event),
    listen: (kind, listener) => listeners.add(kind, listener),
    close: async () => undefined,
  }
}
