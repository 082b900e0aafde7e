/**
 * Events on one server that concern requests of others: a write on the platform, a cancelled task
 * or request. Delivery is unordered and best effort: every change is also found later by reading.
 */
export interface Changes {
  /**
   * Notifies this server's listeners at once, and those of other servers if reachable. Never
   * throws.
   */
  announce(change: Change): void
  /** Calls `listener` with the topic of each change of a kind. Returns the unsubscribe function. */
  listen(kind: ChangeKind, listener: (topic: string) => void): () => void
  close(): Promise<void>
}

/** Kinds of changes. To add a kind, such as a revoked grant, add its name here. */
export const changeKinds = ['written', 'cancelled_task', 'cancelled_request'] as const
export type ChangeKind = (typeof changeKinds)[number]

export interface Change {
  readonly kind: ChangeKind
  /** Hash of the changed object, sent to every server. */
  readonly topic: string
}

export class ChangeListeners {
  readonly #listeners = new Map<ChangeKind, Set<(topic: string) => void>>()

  add(kind: ChangeKind, listener: (topic: string) => void): () => void {
    const ofKind = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, ofKind)
    // A wrapper, because the same listener may be added twice.
    const one = (topic: string) => listener(topic)
    ofKind.add(one)
    return () => void ofKind.delete(one)
  }

  notify({ kind, topic }: Change): void {
    for (const listener of this.#listeners.get(kind) ?? []) listener(topic)
  }
}

/** Changes of servers that share no database: each server hears only its own. */
export function createLocalChanges(): Changes {
  const listeners = new ChangeListeners()
  return {
    announce: (change) => listeners.notify(change),
    listen: (kind, listener) => listeners.add(kind, listener),
    close: async () => undefined,
  }
}
