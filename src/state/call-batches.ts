import { createHash } from 'node:crypto'
import * as z from 'zod'
import { sameInBatchMs } from './call-journal.ts'
import type { RecordBounds, Records } from './records.ts'

/** Short ids for batches of telephone calls, with which clients ask for all calls of a batch. */
export interface CallBatches {
  /**
   * Stores call ids. The same calls get the same batch id. `undefined`: the bounds are reached.
   * Throws StateError.
   */
  save(owner: string, callIds: readonly string[]): Promise<string | undefined>
  /** Call ids of a batch; `undefined` if the owner has no such batch. Throws StateError. */
  find(owner: string, batchId: string): Promise<readonly string[] | undefined>
}

const callBatch = 'call_batch'

/**
 * Lifetime of a batch, ms: twice the time for which a repeated batch means the same calls, so that
 * it outlives every repetition.
 */
const batchKeptMs = 2 * sameInBatchMs

/** Maximum number of batches. A batch of a hundred calls takes 4 kB. */
const maxBatches: RecordBounds = { inAll: 5000, perOwner: 1000 }

const CallIds = z.array(z.string()).min(1)

/** Clients choose the batch ids that they ask for, so the owner is part of the record's id. */
const batchRecordId = (owner: string, batchId: string) => JSON.stringify([owner, batchId])

/** Batches in the shared records. */
export const createCallBatches = (records: Records, bounds = maxBatches): CallBatches => ({
  async save(owner, callIds) {
    const value = JSON.stringify(callIds)
    const hash = createHash('sha256').update(`${owner}\n${value}`).digest('hex')
    const batchId = `batch-${hash.slice(0, 12)}`
    const record = {
      kind: callBatch,
      id: batchRecordId(owner, batchId),
      owner,
      value,
      forMs: batchKeptMs,
    } as const
    return (await records.add(record, bounds)) === 'full' ? undefined : batchId
  },
  async find(owner, batchId) {
    const value = await records.get({ kind: callBatch, id: batchRecordId(owner, batchId) })
    return value === undefined ? undefined : CallIds.parse(JSON.parse(value))
  },
})
