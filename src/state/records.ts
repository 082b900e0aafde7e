import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import type { Changes } from './changes.ts'
import { sameInBatchMs } from './journal.ts'

/**
 * Small records that are kept for a while under an id: used confirmation tokens, cancelled tasks, lists
 * of calls. A new use is a new kind here; no table belongs to it.
 *
 * Rules for every implementation: each method is one atomic operation among all processes that share
 * the records, and durable before its promise resolves. A method that rejects may have taken effect.
 * A record is there until its time is over or it is removed, and no longer. Time is that of what the
 * processes share. Ids and owners are not stored in clear. No method takes longer where there are more
 * records: they are counted when they come and go.
 */
export interface Records {
  /**
   * Adds a record unless its id exists. 'full': the bounds are reached; concurrent requests may
   * exceed them by a few.
   */
  add(record: NewRecord, bounds?: RecordBounds): Promise<'added' | 'exists' | 'full'>
  /** Adds or replaces a record. Replacing one is never refused as 'full'. */
  put(record: NewRecord, bounds?: RecordBounds): Promise<'kept' | 'full'>
  /**
   * Compare and swap: sets a new value and time if the value is still `from`. The owner stays.
   * False: the value differs, or there is no record.
   */
  replace(record: Omit<NewRecord, 'owner'>, from: string): Promise<boolean>
  /** `undefined`: there is no such record. */
  get(key: RecordKey): Promise<string | undefined>
  /** Removes a record. Of concurrent callers, one gets true; false if there was no record. */
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
  /** Whose it is: the records of each owner are limited. */
  readonly owner: string
  readonly value: string
  /** How long it is kept, ms. */
  readonly forMs: number
}

/** The most records of a kind, in all and of one owner. */
export interface RecordBounds {
  readonly inAll: number
  readonly perOwner: number
}

/**
 * Which confirmation tokens were used. A preview's token and a question to a person have a nonce, and
 * each is valid for one action until it expires.
 *
 * Protocol: `use` before the action; it is one atomic operation, so of several requests with the same
 * token one gets 'used now'. `giveBack` only by the request that got 'used now', and only when the
 * action was certainly not done. What is used stays used until the token expires: an implementation
 * refuses with 'full' rather than forget a use earlier. A method that rejects may have taken effect:
 * the action is not done then.
 */
export interface UsedTokens {
  /**
   * Uses a token. 'expired': it is not valid by this server's clock, before or after its use was
   * remembered. 'full': no more uses can be remembered, in all or of this owner.
   */
  use(use: TokenUse): Promise<'used now' | 'used before' | 'expired' | 'full'>
  isUsed(nonce: string): Promise<boolean>
  /** The token can be used again. */
  giveBack(nonce: string): Promise<void>
}

interface TokenUse {
  readonly nonce: string
  /** Whose call it is: the uses of each owner are limited. */
  readonly owner: string
  /** When the token expires, ms since 1970. */
  readonly expiresAt: number
  /** How long a token that is made now is valid, ms. */
  readonly validMs: number
}

/** The most uses that are remembered: some 15 MB. */
const useBounds: RecordBounds = { inAll: 100_000, perOwner: 25_000 }

/**
 * How far the clocks of servers may differ, ms. A token is valid by the clock of the server that checks
 * it, and that may be behind the clock of the one that made it: a use is remembered for so much longer.
 */
const clockDoubtMs = 60_000

const usedToken = 'used_token'

/** The used tokens among the records that servers share. */
export const createUsedTokens = (records: Records, bounds = useBounds): UsedTokens => ({
  async use({ nonce, owner, expiresAt, validMs }) {
    const leftMs = expiresAt - Date.now()
    // A token that seems to be of a later time was made before the clock was set back. A use that was
    // remembered before that may be forgotten while the token would still be valid.
    if (!(leftMs > 0 && leftMs <= validMs + clockDoubtMs)) return 'expired'
    const forMs = Math.max(leftMs, validMs) + clockDoubtMs
    const answer = await records.add(
      { kind: usedToken, id: nonce, owner, value: '', forMs },
      bounds,
    )
    if (answer === 'full') return 'full'
    if (answer === 'exists') return 'used before'
    // If the clock was set forward meanwhile, an earlier use may have been forgotten.
    return Date.now() < expiresAt ? 'used now' : 'expired'
  },
  isUsed: async (nonce) => (await records.get({ kind: usedToken, id: nonce })) !== undefined,
  giveBack: async (nonce) => void (await records.remove({ kind: usedToken, id: nonce })),
})

/** The cancelled tasks, by owner and id. */
export interface CancelledTasks {
  /** The task is cancelled for the rest of its time. Throws StateError. */
  add(owner: string, taskId: string): Promise<void>
  /** Throws StateError. */
  has(owner: string, taskId: string): Promise<boolean>
}

const cancelledTask = 'cancelled_task'

/** Clients choose ids: the owner keeps their tasks apart. */
const cancelledTaskId = (owner: string, taskId: string) =>
  createHash('sha256')
    .update(JSON.stringify([owner, taskId]))
    .digest('base64url')

/** The most that a server knows of without the records. */
const maxKnown = 10_000

/**
 * The cancelled tasks among the records that servers share; `keptMs`: how long a task lives, ms. Those
 * that this server has heard of stay cancelled also while the records cannot be read.
 */
export function createCancelledTasks(
  { records, changes }: { readonly records: Records; readonly changes: Changes },
  keptMs: number,
): CancelledTasks {
  const known = new LRUCache<string, true>({ max: maxKnown, ttl: keptMs })
  changes.listen(cancelledTask, (id) => known.set(id, true))
  return {
    async add(owner, taskId) {
      const id = cancelledTaskId(owner, taskId)
      await records.add({ kind: cancelledTask, id, owner, value: '', forMs: keptMs })
      changes.announce({ kind: cancelledTask, topic: id })
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

const callBatch = 'call_batch'

/**
 * The same list is the same calls for so long, and a batch is kept from its first time on: twice as
 * long, so that it is found whenever a list was given again.
 */
const batchKeptMs = 2 * sameInBatchMs

/** The most batches that are kept: one of a hundred calls takes 4 kB. */
const maxBatches: RecordBounds = { inAll: 5000, perOwner: 1000 }

const CallIds = z.array(z.string()).min(1)

/** Clients choose ids: the owner keeps their batches apart. */
const batchRecordId = (owner: string, batchId: string) => JSON.stringify([owner, batchId])

/** The batches among the records that servers share. */
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
