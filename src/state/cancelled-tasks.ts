import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache/raw'
import type { Broadcast } from './broadcast.ts'
import type { Records } from './records.ts'

/** Cancelled tasks, by owner and id. */
export interface CancelledTasks {
  /** Cancels the task for the rest of its lifetime. Throws StateError. */
  add(owner: string, taskId: string): Promise<void>
  /** Throws StateError. */
  has(owner: string, taskId: string): Promise<boolean>
}

const cancelledTask = 'cancelled_task'

/** Clients choose the task ids, so the owner is part of the record's id. */
const cancelledTaskId = (owner: string, taskId: string) =>
  createHash('sha256')
    .update(JSON.stringify([owner, taskId]))
    .digest('base64url')

/** Maximum number of cancelled tasks that a server remembers in its own memory. */
const maxKnown = 10_000

/**
 * Cancelled tasks in the shared records. `keptMs`: lifetime of a task, ms. A task that this server
 * knows to be cancelled stays cancelled even while the records are unreadable.
 */
export function createCancelledTasks(
  { records, broadcast }: { readonly records: Records; readonly broadcast: Broadcast },
  keptMs: number,
): CancelledTasks {
  const known = new LRUCache<string, true>({ max: maxKnown, ttl: keptMs })
  broadcast.listen(cancelledTask, (id) => known.set(id, true))
  return {
    async add(owner, taskId) {
      const id = cancelledTaskId(owner, taskId)
      await records.add({ kind: cancelledTask, id, owner, value: '', forMs: keptMs })
      broadcast.announce({ kind: cancelledTask, topic: id })
    },
    async has(owner, taskId) {
      const id = cancelledTaskId(owner, taskId)
      if (known.has(id)) return true
      const isCancelled = (await records.get({ kind: cancelledTask, id })) !== undefined
      if (isCancelled) known.set(id, true)
      return isCancelled
    },
  }
}
