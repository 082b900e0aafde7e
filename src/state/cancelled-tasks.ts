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
const idOf = (owner: string, taskId: string) => JSON.stringify([owner, taskId])

/** The cancelled tasks among the records that servers share; `keptMs`: how long a task lives, ms. */
export const createCancelledTasks = (records: Records, keptMs: number): CancelledTasks => ({
  async add(owner, taskId) {
    await records.add({ kind, id: idOf(owner, taskId), owner, value: '', forMs: keptMs })
  },
  has: async (owner, taskId) =>
    (await records.get({ kind, id: idOf(owner, taskId) })) !== undefined,
})
