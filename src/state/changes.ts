/**
 * What happened on one server and matters to requests of others: something was written on the
 * platform, a task or a request was cancelled. Changes arrive in any order. Nothing depends on
 * the arrival of one: what has changed is found later, by reading.
 */
export interface Changes {
  /**
   * Notifies the listeners of this server at once, and those of other servers if they can be
   * reached. Never throws.
   */
  announce(change: Change): void
  /**
   * Calls `listener` with the topic of each change of a kind. Returns the function that
   * unsubscribes.
   */
  listen(kind: ChangeKind, listener: (topic: string) => void): () => void
  close(): Promise<void>
}

/** A new kind, such as a revoked grant, needs only its name here. */
export const changeKinds = ['written', 'cancelled_task', 'cancelled_request'] as const
export type ChangeKind = (typeof changeKinds)[number]

export interface Change {
  readonly kind: ChangeKind
  /** A hash of what has changed, as sent to every server. */
  readonly topic: string
}

export class ChangeListeners {
  readonly #listeners = new Map<ChangeKind, Set<(topic: string) => void>>()

  add(kind: ChangeKind, listener: (topic: string) => void): () => void {
    const ofKind = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, ofKind)
    // A function of its own, because the same listener may be added twice.
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
