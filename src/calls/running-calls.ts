import { LRUCache } from 'lru-cache'
import { routes } from '../contract/routes.ts'
import type { Client } from '../platform/client.ts'
import { ApiError, isNotFound } from '../platform/failure.ts'
import { withTimeLimit } from '../platform/time-limit.ts'
import type { DialPolicy } from '../policy/dial-policy.ts'
import type { OpenCall } from '../state/call-counter.ts'
import { type CallFollower, hasEnded } from './call-follower.ts'

/** The account whose calls are counted, and the client that reads them. */
export interface CallReader {
  /** Platform and account, as in the call counter. Only calls of this owner are read. */
  readonly owner: string
  readonly account: string
  readonly client: Client
  readonly keyHash: string
}

/** Time limit for reading calls, ms. A request waits for the reading. */
const readMs = 3000

/** Maximum number of calls read at once. */
const maxRead = 50

/**
 * Time for which the platform must report a call as missing before the call counts as ended, ms.
 * Measured by this process's monotonic clock, so that setting the time of day ends no call.
 */
const missingForMs = 120_000

type CallStatus = 'ended' | 'running' | 'missing' | 'unknown'

/**
 * Keeps the call counter's number of running calls correct. Calls that this process placed are
 * followed until they end. Calls of a stopped process are read from the platform before this
 * process places the first call of their account, and whenever the policy refuses for
 * `max_at_once`. Then an ended call no longer counts, and a running call is followed.
 */
export class RunningCalls {
  readonly #policy: DialPolicy
  readonly #follower: CallFollower
  /** Permit ids of the calls that this process follows. */
  readonly #followed = new Set<string>()
  /**
   * Time at which the platform first reported a call as missing, by permit id; a time of
   * `performance.now`, ms.
   */
  readonly #missingSince = new LRUCache<string, number>({ max: 1000 })
  /** Owners whose running calls this process has read once. */
  readonly #knownOwners = new Set<string>()

  constructor(policy: DialPolicy, follower: CallFollower) {
    this.#policy = policy
    this.#follower = follower
  }

  /** Follows a placed call. Its permit counts until the call has ended. */
  async placed(permitId: string, callId: string, reader: CallReader): Promise<void> {
    this.#follow(permitId, callId, reader)
    await this.#policy.placed(permitId, { owner: reader.owner, callId })
  }

  /**
   * Runs `question`, which asks the dial policy about a call. If the policy refuses for
   * `max_at_once`, reads the counted calls, and asks again if one of them has ended.
   */
  async ask<V extends { readonly allowed: boolean }>(
    reader: CallReader,
    signal: AbortSignal | undefined,
    question: () => Promise<V>,
  ): Promise<V> {
    if (!this.#knownOwners.has(reader.owner)) {
      this.#knownOwners.add(reader.owner)
      await this.#readOpenCalls(reader, signal)
    }
    const answer = await question()
    const isFull = 'rule' in answer && answer.rule === 'max_at_once'
    return isFull && (await this.#readOpenCalls(reader, signal)) ? question() : answer
  }

  /** Reads the calls that this process does not follow. Returns true if one of them has ended. */
  async #readOpenCalls(reader: CallReader, signal: AbortSignal | undefined): Promise<boolean> {
    const counted = await this.#policy.runningCalls(reader.owner)
    const open = counted.filter(({ id }) => !this.#followed.has(id)).slice(0, maxRead)
    const statuses = await Promise.all(open.map((call) => this.#update(call, reader, signal)))
    return statuses.includes('ended')
  }

  /**
   * Reads a call and reports its state to the policy. A call that cannot be read counts as running
   * until its lease ends.
   */
  async #update(
    call: OpenCall,
    reader: CallReader,
    signal: AbortSignal | undefined,
  ): Promise<CallStatus> {
    const status = this.#judged(call.id, await statusOf(call, reader, signal))
    if (status === 'ended') await this.#policy.ended(call.id)
    if (status === 'running') {
      await this.#policy.renew(call.id)
      this.#follow(call.id, call.callId, reader)
    }
    return status
  }

  /** Treats a call as ended once it has been missing for `missingForMs`. */
  #judged(permitId: string, status: CallStatus): CallStatus {
    if (status !== 'missing') {
      this.#missingSince.delete(permitId)
      return status
    }
    const since = this.#missingSince.get(permitId) ?? performance.now()
    const isGone = performance.now() - since >= missingForMs
    if (isGone) this.#missingSince.delete(permitId)
    else this.#missingSince.set(permitId, since)
    return isGone ? 'ended' : 'missing'
  }

  #follow(permitId: string, callId: string, { account, client, keyHash }: CallReader): void {
    if (this.#followed.has(permitId)) return
    this.#followed.add(permitId)
    const events = {
      onRunning: () => void this.#policy.renew(permitId),
      onEnded: () => void this.#policy.ended(permitId),
    }
    void this.#follower
      .untilEnd({ keyHash, account, callId }, client, events)
      .finally(() => this.#followed.delete(permitId))
  }
}

async function statusOf(
  { callId }: OpenCall,
  { account, client }: CallReader,
  signal: AbortSignal | undefined,
): Promise<CallStatus> {
  const params = { account_id: account, call_id: callId }
  try {
    const call = await withTimeLimit(readMs, signal, (limited) =>
      client.call(routes.calls.get, { params, query: {} }, limited),
    )
    return hasEnded(call) ? 'ended' : 'running'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return isNotFound(error) ? 'missing' : 'unknown'
  }
}
