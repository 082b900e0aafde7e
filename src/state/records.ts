import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import type { Broadcast } from './broadcast.ts'
import { sameInBatchMs } from './journal.ts'

/**
 * Small expiring records by id: used confirmation tokens, cancelled tasks, lists of calls. A new
 * use needs a new kind here, but no table of its own.
 *
 * Rules for every implementation: each method is one atomic operation among all processes that
 * share the records, and durable before its promise resolves. A method that rejects may have taken
 * effect. A record exists exactly until it expires or is removed, by the clock that the processes
 * share. Ids and owners are not stored in clear. No method slows down with the number of records,
 * because counts are kept with each insert and delete.
 */
export interface Records {
  /**
   * Adds a record unless its id exists. 'full': the bounds are reached. Concurrent requests may
   * exceed the bounds by a few records.
   */
  add(record: NewRecord, bounds?: RecordBounds): Promise<'added' | 'exists' | 'full'>
  /** Adds or replaces a record. Replacing a record is never refused as 'full'. */
  put(record: NewRecord, bounds?: RecordBounds): Promise<'kept' | 'full'>
  /**
   * Compare and swap: sets a new value and expiry if the value is still `from`. Keeps the owner.
   * Returns false if the value differs or there is no record.
   */
  replace(record: Omit<NewRecord, 'owner'>, from: string): Promise<boolean>
  /** `undefined` if there is no such record. */
  get(key: RecordKey): Promise<string | undefined>
  /**
   * Removes a record. Of concurrent callers, exactly one gets true. Returns false if there was no
   * record.
   */
  remove(key: RecordKey): Promise<boolean>
}

export type RecordKind = 'used_token' | 'cancelled_task' | 'call_batch' | OauthRecordKind

/**
 * Records of the authorization server (src/oauth: state-adapter.ts, platform-keys.ts, tokens.ts).
 */
export type OauthRecordKind =
  | 'oauth_client'
  | 'oauth_allowed_client'
  | 'oauth_interaction'
  | 'oauth_grant'
  | 'oauth_code'
  | 'oauth_refresh_token'
  | 'oauth_used'
  | 'oauth_replay'
  | 'oauth_key'

export interface RecordKey {
  readonly kind: RecordKind
  readonly id: string
}

export interface NewRecord extends RecordKey {
  /** Owner of the record. The number of records per owner is bounded. */
  readonly owner: string
  readonly value: string
  /** Time to live, ms. */
  readonly forMs: number
}

/** Maximum number of records of a kind, in total and per owner. */
export interface RecordBounds {
  readonly inAll: number
  readonly perOwner: number
}

/**
 * Used confirmation tokens. The token of a preview and the question to a person each have a nonce,
 * which is valid for one action until it expires.
 *
 * Protocol: `use` before the action. It is one atomic operation, so only one of several requests
 * with the same token gets 'used now'. Only that request may run `giveBack`, and only if the action
 * was certainly not done. A use is kept until the token expires: an implementation refuses with
 * 'full' rather than forget it earlier. A method that rejects may have taken effect; the action is
 * then not done.
 */
export interface UsedTokens {
  /**
   * Marks a token as used. 'expired': the token had expired by this server's clock, before or after
   * the use was recorded. 'full': no more uses can be recorded, in total or for this owner.
   */
  use(use: TokenUse): Promise<'used now' | 'used before' | 'expired' | 'full'>
  isUsed(nonce: string): Promise<boolean>
  /** Makes a used token valid again. */
  giveBack(nonce: string): Promise<void>
}

interface TokenUse {
  readonly nonce: string
  /** Owner of the tool call. The number of uses per owner is bounded. */
  readonly owner: string
  /** Expiry of the token, ms since 1970. */
  readonly expiresAt: number
  /** Validity of a new token, ms. */
  readonly validMs: number
}

/** Maximum number of stored uses. They take about 15 MB. */
const useBounds: RecordBounds = { inAll: 100_000, perOwner: 25_000 }

/**
 * Maximum difference between the clocks of servers, ms. The clock of the server that checks a token
 * may be behind that of the issuing server, so a use is remembered for this much longer.
 */
const clockDoubtMs = 60_000

const usedToken = 'used_token'

/** Used tokens in the shared records. */
export const createUsedTokens = (records: Records, bounds = useBounds): UsedTokens => ({
  async use({ nonce, owner, expiresAt, validMs }) {
    const leftMs = expiresAt - Date.now()
    // A token that is valid for longer than a new one was issued before the clock was set back. The
    // record of its use may be deleted already, so the token could be used twice.
    if (!(leftMs > 0 && leftMs <= validMs + clockDoubtMs)) return 'expired'
    const forMs = Math.max(leftMs, validMs) + clockDoubtMs
    const answer = await records.add(
      { kind: usedToken, id: nonce, owner, value: '', forMs },
      bounds,
    )
    if (answer === 'full') return 'full'
    if (answer === 'exists') return 'used before'
    // Checked once more: if the clock was set forward meanwhile, an earlier use may have been
    // forgotten.
    return Date.now() < expiresAt ? 'used now' : 'expired'
  },
  isUsed: async (nonce) => (await records.get({ kind: usedToken, id: nonce })) !== undefined,
  giveBack: async (nonce) => void (await records.remove({ kind: usedToken, id: nonce })),
})

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
