import { StateError } from './state-error.ts'

/*
 * The journal: the record of every call that is sent to the platform, written before it is sent.
 * With it a call is sent once: not again by a repeated request, by another process that shares the
 * journal, or after a restart.
 *
 * States of an entry, and who may move it from one to the next:
 *
 *   (no entry) --claim--> sending            one caller; only it may send
 *   sending --beginSending--> sending        the holder, right before it sends: sets the deadline
 *   sending --endSending--> sending          the sender, when it stops earlier: deadline is now
 *   sending --release--> free                the holder, when it is certain that there is no call
 *   free --claim--> sending                  one caller
 *   sending --current--> sending             any caller, where the elapsed time is unknown (clock set,
 *                                            machine restarted): sets a new deadline
 *   sending, free --recordPlaced--> placed             any caller that knows of the call; final
 *   sending, free --recordNotAccepted--> not_taken     any caller that knows of the call; final
 *
 * Rules for every implementation:
 *
 * 1. Each method is one atomic operation among all processes that share the journal. No caller reads
 *    an entry and then writes it: between the two another request may run.
 * 2. The holder of an entry is the caller that knows its current `stamp`. `beginSending`, `endSending` and
 *    `release` compare the stamp and change nothing when it is another one. Every `claim` and
 *    `beginSending` makes a stamp that no holder has who may still be at work.
 * 3. A change is durable before the promise resolves. A method that rejects may have taken effect: a
 *    caller whose `claim` or `beginSending` rejects does not send.
 * 4. Taking over: a caller that has read an entry with `current` may `beginSending` with its stamp,
 *    once the platform, asked long enough after the deadline, does not list the call. Of several
 *    such callers one gets the entry, all others get `undefined`.
 */

/** What is known of one call to place. */
export interface JournalEntry {
  /** Whose call it is, as the journal stores it. */
  readonly owner: string
  /** Correlation id that the platform is given with the call. */
  readonly externalId: string
  /**
   * `sending`: the outcome is unknown; `placed`: there is a call; `not_taken`: there is a call,
   * and the platform said that it did not accept it (`success: false`); `free`: there is no call.
   */
  readonly state: 'sending' | 'placed' | 'not_taken' | 'free'
  /**
   * When it got into its state, ms since 1970. Once `beginSending` was called it is the deadline:
   * the sender sends nothing after it. It also identifies the holder, see above.
   */
  readonly stamp: number
  readonly callId: string | null
}

/** Which platform and account, as callers write it and as earlier versions wrote it. */
export interface CallOwner {
  /** The platform and the account. */
  readonly owner: string
  /** What earlier versions stored for the same: looked up, never written. */
  readonly formerOwners: readonly string[]
}

/** Which call an entry is about. */
export type CallKey = Pick<JournalEntry, 'owner' | 'externalId'>

/** Whose call it is and what exactly is asked for: the same identity is the same call. */
export interface CallIdentity extends CallOwner {
  /** Hash of everything that is sent, except the external id. */
  readonly content: string
  /** The caller's own external id; `undefined`: the journal makes one. */
  readonly externalId: string | undefined
  /** How long an identical request without an external id means the same call, ms. */
  readonly sameForMs?: number | undefined
}

export type Claim =
  /** This caller may send it, and no other. */
  | { readonly kind: 'mine'; readonly entry: JournalEntry }
  /** Another caller sends it or has sent it. */
  | { readonly kind: 'theirs'; readonly entry: JournalEntry }
  /** The external id belongs to another call. */
  | { readonly kind: 'conflict' }

/** An entry as it is now. */
export interface CurrentEntry extends JournalEntry {
  /**
   * Time since the deadline of the last sender, ms; negative before it. Where the clock was set or
   * the machine restarted meanwhile, the elapsed time is unknown: the deadline is set anew.
   */
  readonly sinceDeadlineMs: number
}

/** See the protocol above. Every method rejects with JournalError when the journal is unusable. */
export interface Journal {
  /** Gets the right to send, or the entry of the caller that has it. */
  claim(identity: CallIdentity): Promise<Claim>
  /** The entry of an identical request; `undefined`: there is none, or no call came of it. */
  find(identity: CallIdentity): Promise<JournalEntry | undefined>
  /** The entry as it is now; `undefined`: the journal no longer has it. */
  current(entry: JournalEntry): Promise<CurrentEntry | undefined>
  /**
   * Records that the holder sends the call now and stops in so many ms: for the caller that claimed
   * it, and for one that takes it over. `undefined`: another caller was faster.
   */
  beginSending(entry: JournalEntry, forMs: number): Promise<JournalEntry | undefined>
  /** The sender stopped before its deadline. */
  endSending(entry: JournalEntry): Promise<void>
  /** There is a call. */
  recordPlaced(entry: JournalEntry, callId: string): Promise<void>
  /** There is a call, and the platform did not take it. */
  recordNotAccepted(entry: JournalEntry, callId: string): Promise<void>
  /** There is no call. Does nothing when another caller has become the holder. */
  release(entry: JournalEntry): Promise<void>
  /** How long ago a call was placed, ms; `undefined`: not in this journal, or the time is unknown. */
  placedAgoMs(owner: CallOwner, callId: string): Promise<number | undefined>
  /** The value that was last noted under a name. Concurrent notes do not depend on each other. */
  readNote(name: string): Promise<string | undefined>
  writeNote(name: string, value: string): Promise<void>
  close(): Promise<void>
}

/** The journal is unusable; without it no call is placed. */
export class JournalError extends StateError {
  override readonly name = 'JournalError'
}

/**
 * How long an identical request without an external id means the same call, ms. After that the
 * caller wants another call.
 */
export const sameCallMs = 10 * 60_000

/**
 * The same for a call of a list. A long list takes several requests, with nights, limits and long
 * weekends between them; a list may be due again after a week.
 */
export const sameInListMs = 5 * 24 * 3_600_000

/** How long entries are kept, ms: longer than a request is repeated. */
export const keptForMs = 30 * 24 * 3_600_000

/** The longest time between `beginSending` and its deadline, ms. */
export const longestSendMs = 60_000
