import { createHash } from 'node:crypto'
import * as z from 'zod'
import { sameInListMs } from './journal.ts'
import type { RecordBounds, Records } from './records.ts'

/** The calls of one list under one short id, so that a caller can ask for all of them at once. */
export interface CallBatches {
  /**
   * Keeps the ids of calls; the same calls have the same id. `undefined`: no more can be kept. Throws
   * StateError.
   */
  save(owner: string, callIds: readonly string[]): Promise<string | undefined>
  /** The ids of the calls; `undefined`: this owner has no such batch. Throws StateError. */
  find(owner: string, batchId: string): Promise<readonly string[] | undefined>
}

const kind = 'call_batch'

/**
 * The same list is the same calls for so long, and a batch is kept from its first time on: twice as
 * long, so that it is found whenever a list was given again.
 */
const keptMs = 2 * sameInListMs

/** The most batches that are kept: one of a hundred calls takes 4 kB. */
const mostBatches: RecordBounds = { inAll: 5000, perOwner: 1000 }

const CallIds = z.array(z.string()).min(1)

/** Batches of one owner do not meet those of another, whatever id a client writes. */
const idOf = (owner: string, batchId: string) => JSON.stringify([owner, batchId])

/** The batches among the records that servers share. */
export const createCallBatches = (records: Records, bounds = mostBatches): CallBatches => ({
  async save(owner, callIds) {
    const value = JSON.stringify(callIds)
    const hash = createHash('sha256').update(`${owner}\n${value}`).digest('hex')
    const batchId = `batch-${hash.slice(0, 12)}`
    const record = { kind, id: idOf(owner, batchId), owner, value, forMs: keptMs } as const
    return (await records.add(record, bounds)) === 'full' ? undefined : batchId
  },
  async find(owner, batchId) {
    const value = await records.get({ kind, id: idOf(owner, batchId) })
    return value === undefined ? undefined : CallIds.parse(JSON.parse(value))
  },
})
