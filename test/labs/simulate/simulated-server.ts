import { createHash } from 'node:crypto'
import { CallFollower } from '../../../src/calls/call-follower.ts'
import { placedBefore, placeOnce } from '../../../src/calls/place-once.ts'
import {
  ExternalIdConflict,
  isNotPlaced,
  OutcomeUnknown,
  type Permit,
  type Placement,
  type PlacingContext,
} from '../../../src/calls/placement.ts'
import { RunningCalls } from '../../../src/calls/running-calls.ts'
import { createClient } from '../../../src/platform/client.ts'
import { ApiError } from '../../../src/platform/failure.ts'
import { createDialPolicy, type DialPolicy } from '../../../src/policy/dial-policy.ts'
import {
  type CallKey,
  type Journal,
  JournalError,
  sameInBatchMs,
} from '../../../src/state/call-journal.ts'
import { Refused } from '../../../src/tool/refused.ts'
import { createUsedTokens, type UsedTokens } from '../../../src/tool/single-use-tokens.ts'
import { checkDialPolicy, pendingPermitsOf, permitFor } from '../../../tools/calls/placing-steps.ts'
import { replyCaches } from '../../harness/session.ts'
import { agentId } from '../platform/call-lists.ts'
import type { Steps } from './fault-injection.ts'
import type { Plan, WantedCall } from './plan.ts'
import type { SharedState } from './shared-state.ts'
import type { VirtualPlatform } from './virtual-platform.ts'

/** Answer to a client. */
export type Answer =
  | {
      readonly kind: 'placed'
      readonly callId: string
      readonly isRepeat: boolean
      readonly isAccepted: boolean
    }
  | { readonly kind: 'unknown' }
  /** The call was placed neither by this request nor by an earlier one. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The token was used before, or has expired. */
  | { readonly kind: 'token used' }
  /** The state failed. */
  | { readonly kind: 'state failed' }
  /** The server was stopped. */
  | { readonly kind: 'dead' }

/** Lifetime of a confirmation token, ms. */
export const tokenMs = 120_000

/** A client's request at one server. */
export interface ServedRequest {
  readonly nth: number
  readonly wanted: WantedCall
  readonly signal: AbortSignal
  readonly forMs: number
  /** Confirmation token; absent if the call needs none. */
  readonly token?: ClientToken | undefined
}

/** A confirmation token from a preview. */
export interface ClientToken {
  readonly nonce: string
  /** Expiry of the token, ms since 1970. */
  readonly expiresAt: number
}

const account = 'account-1'
const platformName = 'https://platform'
const callOwner = `${platformName} ${account}`
const cacheOf = replyCaches()

interface ServerParts {
  readonly plan: Plan
  readonly platform: VirtualPlatform
  readonly state: SharedState
  readonly steps: Steps
}

/** One process of the program, from its start until it is killed. */
export class SimulatedServer {
  readonly steps: Steps
  readonly #parts: ServerParts
  readonly #journal: Journal
  readonly #tokens: UsedTokens
  readonly #policy: DialPolicy
  readonly #runningCalls: RunningCalls | undefined

  constructor(parts: ServerParts) {
    const { plan, state, steps } = parts
    this.#parts = parts
    this.steps = steps
    this.#journal = state.journalFor(plan.shared, steps)
    this.#tokens = createUsedTokens(state.recordsFor(steps))
    this.#policy = createDialPolicy({
      config: plan.limits,
      source: 'the simulation',
      counter: state.counterFor(steps),
    })
    this.#runningCalls =
      plan.limits.max_at_once === undefined
        ? undefined
        : new RunningCalls(this.#policy, new CallFollower())
  }

  /**
   * True if one more call would be allowed. Calls that have ended are released before a refusal.
   */
  async allowsCall(wanted: WantedCall): Promise<boolean> {
    const signal = new AbortController().signal
    return this.#runOf({ nth: -1, wanted, signal, forMs: 54_000 }).isAllowed()
  }

  /**
   * Serves a request in the order of place_call: looks for an earlier placement, uses the
   * confirmation token, places.
   */
  async serve(request: ServedRequest): Promise<Answer> {
    const run = this.#runOf(request)
    try {
      const before = await placedBefore(run.context, request.signal)
      if (before) return placed(before)
      if (request.token === undefined) return placed(await run.place())
      return await this.#placeConfirmed(request.token, run.place)
    } catch (error) {
      return answerOf(error)
    }
  }

  async #placeConfirmed(
    { nonce, expiresAt }: ClientToken,
    place: () => Promise<Placement>,
  ): Promise<Answer> {
    const used = await this.#tokens.use({ nonce, owner: account, expiresAt, validMs: tokenMs })
    if (used !== 'used now') return { kind: 'token used' }
    this.#parts.state.tokenUsed(nonce)
    try {
      return placed(await place())
    } catch (error) {
      if (isRefusedForNow(error)) await this.#tokens.giveBack(nonce)
      throw error
    }
  }

  #runOf({ nth, wanted, signal, forMs }: ServedRequest) {
    const { plan, platform, steps } = this.#parts
    let permitId: string | undefined
    const send = platform.sendFor({
      isAlive: () => steps.isAlive,
      onPost: () => ({ permitId, request: nth }),
    })
    const client = createClient({ send, apiKey: 'key', userAgent: 'simulation' })
    const request = {
      params: { account_id: account },
      query: {},
      body: bodyOf(wanted),
    }
    const policy: DialPolicy = {
      ...this.#policy,
      reserve: async (dial, call) => {
        const decision = await this.#policy.reserve(dial, call)
        if (decision.allowed) permitId = decision.id
        return decision
      },
    }
    const session = {
      client,
      cache: cacheOf('key', client),
      keyHash: createHash('sha256').update('key').digest('hex'),
      platform: platformName,
      callServices: { policy, runningCalls: this.#runningCalls },
    }
    const run = { request, session, signal }
    const permit = (call: CallKey): Promise<Permit> => permitFor(dialOf(wanted), call, run)
    const context: PlacingContext = {
      request,
      client,
      journal: this.#journal,
      callOwner,
      permit,
      pendingPermits: pendingPermitsOf(run),
      timing: { findOutMs: plan.findOutMs, settledMs: plan.settledMs },
      sameForMs: sameInBatchMs,
      until: performance.now() + forMs,
    }
    return {
      context,
      place: () => placeOnce(context, signal),
      isAllowed: async () => (await checkDialPolicy(dialOf(wanted), run)).allowed,
    }
  }
}

const fromNumber = '+4930123456'

const bodyOf = ({ number, externalId }: WantedCall) => ({
  type: 'phone',
  agent_id: agentId,
  from_number: fromNumber,
  to_number: number,
  ...(externalId !== undefined && { external_id: externalId }),
})

const dialOf = ({ number }: WantedCall) => ({
  agentId,
  agentName: null,
  type: 'phone' as const,
  fromNumber,
  toNumber: number,
})

const placed = ({ call, isRepeat, isAccepted }: Placement): Answer => ({
  kind: 'placed',
  callId: call.id,
  isRepeat,
  isAccepted,
})

/** True for an error after which nothing was dialled and a retry may succeed, as in place_call. */
const isRefusedForNow = (error: unknown) =>
  error instanceof ApiError
    ? isNotPlaced(error.failure)
    : error instanceof Refused || error instanceof JournalError

/** The answer for an expected error. Rethrows any other, which is a defect. */
function answerOf(error: unknown): Answer {
  if (error instanceof OutcomeUnknown) return { kind: 'unknown' }
  if (error instanceof ApiError) return { kind: 'refused', why: error.failure.kind }
  if (error instanceof Refused) return { kind: 'refused', why: error.message }
  if (error instanceof ExternalIdConflict) return { kind: 'refused', why: 'conflict' }
  if (error instanceof Error && error.name.endsWith('Error') && 'isTemporary' in error)
    return { kind: 'state failed' }
  throw error
}
