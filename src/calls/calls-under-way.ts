import type { Client } from '../api/client.ts'
import { ApiError } from '../api/failure.ts'
import { withTimeLimit } from '../api/time-limit.ts'
import { routes } from '../contract/routes.ts'
import type { DialPolicy } from '../policy/dial-policy.ts'
import { type Followed, type Follower, hasEnded } from './follow.ts'

/** Whose calls are counted together, and who reads them. */
export interface CallReader {
  /** Whose calls these are: only theirs are looked at, and this is written down. */
  readonly owner: string
  readonly account: string
  readonly client: Client
  /** Whose key it is, see Followed. */
  readonly key: string
}

/** How long looking at calls takes at most, and at how many, so that a request can wait for it. */
const lookMs = 3000
const mostLooked = 50

/** After that a call that the platform does not show is not just late, ms. */
const shownAfterMs = 60_000

/** A call that counts as under way, by the id of its permit. */
interface Counted {
  readonly id: string
  readonly callId: string
  readonly at: number
}

/**
 * Which calls count as under way: those that this process follows to their end, and those that are
 * written down. A process that stopped, or was killed, follows its calls no more; so the next one
 * asks the platform about them, at the first call of their account and whenever too many seem to be
 * under way. What has ended is released, what goes on is followed from then on.
 */
export class CallsUnderWay {
  readonly #policy: DialPolicy
  readonly #follower: Follower
  /** Permits of calls that this process follows. */
  readonly #followed = new Set<string>()
  /** Owners whose calls were looked at when this process placed their first. */
  readonly #known = new Set<string>()

  constructor(policy: DialPolicy, follower: Follower) {
    this.#policy = policy
    this.#follower = follower
  }

  /** A call was placed with this permit: it counts until it has ended. */
  async placed(id: string, callId: string, reader: CallReader): Promise<void> {
    this.#follow(id, callId, reader)
    await this.#policy.placed(id, { owner: reader.owner, callId })
  }

  /** Asks the policy, and once more when a call that seemed to be under way turns out to have ended. */
  async ask<V extends { readonly allowed: boolean }>(
    reader: CallReader,
    signal: AbortSignal | undefined,
    question: () => Promise<V>,
  ): Promise<V> {
    if (!this.#known.has(reader.owner)) {
      this.#known.add(reader.owner)
      await this.#look(reader, signal)
    }
    const answer = await question()
    const isFull = 'rule' in answer && answer.rule === 'max_at_once'
    return isFull && (await this.#look(reader, signal)) ? question() : answer
  }

  /** Looks at calls that nobody here follows; true when one of them has ended. */
  async #look(reader: CallReader, signal: AbortSignal | undefined): Promise<boolean> {
    const counted = await this.#policy.underWay(reader.owner)
    const open = counted.filter(({ id }) => !this.#followed.has(id)).slice(0, mostLooked)
    const ended = await Promise.all(open.map((one) => this.#settle(one, reader, signal)))
    return ended.includes(true)
  }

  /** True when the call has ended. What cannot be read stays as it is: its lease ends. */
  async #settle(
    { id, callId, at }: Counted,
    reader: CallReader,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const params = { account_id: reader.account, call_id: callId }
    const state = await withTimeLimit(lookMs, signal, (until) =>
      reader.client.call(routes.calls.get, { params, query: {} }, until),
    ).then(
      (call) => (hasEnded(call) ? 'ended' : 'goes on'),
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        const isMissing = 'status' in error.failure && error.failure.status === 404
        return isMissing && Date.now() - at > shownAfterMs ? 'ended' : 'not known'
      },
    )
    if (state === 'ended') await this.#policy.release(id)
    if (state === 'goes on') {
      await this.#policy.renew(id)
      this.#follow(id, callId, reader)
    }
    return state === 'ended'
  }

  #follow(id: string, callId: string, { account, client, key }: CallReader): void {
    if (this.#followed.has(id)) return
    this.#followed.add(id)
    const followed: Followed = { owner: key, account, callId }
    const then = {
      tick: () => void this.#policy.renew(id),
      ended: () => void this.#policy.release(id),
    }
    void this.#follower.untilEnd(followed, client, then).finally(() => this.#followed.delete(id))
  }
}
