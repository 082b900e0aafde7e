import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Changes } from './changes.ts'
import type { Records } from './records.ts'

/** The cancelled tasks, by owner and id. */
export interface CancelledTasks {
  /** The task is cancelled for the rest of its time. Throws StateError. */
  add(owner: string, taskId: string): Promise<void>
  /** Throws StateError. */
  has(owner: string, taskId: string): Promise<boolean>
}

const kind = 'cancelled_task'

/** Ids are written by clients: those of one owner do not meet those of another. */
const idOf = (owner: string, taskId: string) =>
  createHash('sha256')
    .update(JSON.stringify([owner, taskId]))
    .digest('base64url')

/** The most that a server knows of without the records. */
const mostKnown = 10_000

/**
 * The cancelled tasks among the records that servers share; `keptMs`: how long a task lives, ms. Those
 * that this server has heard of stay cancelled also while the records cannot be read.
 */
export function createCancelledTasks(
  { records, changes }: { readonly records: Records; readonly changes: Changes },
  keptMs: number,
): CancelledTasks {
  const known = new LRUCache<string, true>({ max: mostKnown, ttl: keptMs })
  changes.listen(kind, (id) => known.set(id, true))
  return {
    async add(owner, taskId) {
      const id = idOf(owner, taskId)
      await records.add({ kind, id, owner, value: '', forMs: keptMs })
      changes.announce({ kind, topic: id })
    },
    async has(owner, taskId) {
      const id = idOf(owner, taskId)
      if (known.has(id)) return true
      const isCancelled = (await records.get({ kind, id })) !== undefined
      if (isCancelled) known.set(id, true)
      return isCancelled
    },
  }
}
