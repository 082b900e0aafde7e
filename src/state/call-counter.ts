import type { CallLimits, ExceededLimit } from './call-limits.ts'
import type { CallKey } from './journal.ts'
import { StateError } from './state-error.ts'

export type Reservation = { readonly id: string } | { readonly exceeded: ExceededLimit }

/** A call on the platform. */
export interface PlatformCall {
  /** Platform and account; only they can be asked about it. */
  readonly owner: string
  readonly callId: string
}

/** A call that may be under way. */
export interface OpenCall {
  readonly id: string
  readonly callId: string
}

/*
 * The call counter: which calls were placed when and which are under way, for the limits of the dial
 * policy. Servers that share a counter share their limits.
 *
 * The life of a reservation: `reserve` counts the call, before it is sent, and notes which entry of the
 * journal it is for: whoever finds out what became of that call settles the reservation, too. Then either `cancel` (there
 * is no call: it counts nowhere) or `placed` (which call it is), any number of `renew`, and `release`
 * (it has ended: it still counts as placed). A server that was killed does not release: the call
 * counts as under way until its lease ends.
 *
 * Rules for every implementation: `reserve` checks all limits and counts in one atomic operation among
 * all servers, so that no two reservations together pass a limit, and what it counted is durable
 * before the promise resolves. All other methods change at most one reservation, and ignore ids that
 * they do not know. `renew` after `release` does nothing. Time is that of what the servers share, so
 * that servers whose clocks differ keep the same limits.
 */

/** See above. Rejects with CallCounterError when it is unusable. */
export interface CallCounter {
  /** The limit that keeps a call from being placed now. Counts nothing. */
  check(limits: CallLimits): Promise<ExceededLimit | undefined>
  /** Counts a call, under way for `leaseMs` at most, or tells the limit it would exceed. */
  reserve(limits: CallLimits, leaseMs: number, call?: CallKey): Promise<Reservation>
  /** Reservations for a call that were neither released nor told which call it became. */
  pending(call: CallKey): Promise<string[]>
  /** Which call it became, so that a later process can ask the platform whether it has ended. */
  placed(id: string, call: PlatformCall): Promise<void>
  /** Calls of an owner, reserved within the last `withinMs`, that were not released; oldest first. */
  open(owner: string, withinMs: number): Promise<OpenCall[]>
  /** The call is under way, for another `leaseMs` at most. */
  renew(id: string, leaseMs: number): Promise<void>
  /** The call has ended. It still counts as one that was placed. */
  release(id: string): Promise<void>
  /** The call was not placed: it counts no more. */
  cancel(id: string): Promise<void>
  close(): Promise<void>
}

/** The counter is unusable; the message names it and says what to do. */
export class CallCounterError extends StateError {
  override readonly name = 'CallCounterError'
}
