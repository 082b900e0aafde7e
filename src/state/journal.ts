import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { timestampIn } from './clocks.ts'
import { StateError } from './state-access.ts'

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
  /**
   * When it was first sent, ms since 1970: the earliest time that the clocks allow. A new deadline
   * and a send that takes it over leave it; a claim of a free entry begins anew.
   */
  readonly firstSentAt: number
  readonly callId: string | null
}

/** Which call an entry is about. */
export type CallKey = Pick<JournalEntry, 'owner' | 'externalId'>

/** Whose call it is and what exactly is asked for: the same identity is the same call. */
export interface CallIdentity {
  /** The platform and the account. */
  readonly owner: string
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
  /** The external id belongs to another call, whose entry this is. */
  | { readonly kind: 'conflict'; readonly entry: JournalEntry }

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
  /** The entry of an identical request; `undefined`: there is none, or it placed no call. */
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
  /** How long ago a call was placed, ms; `unknown` after a clock was set; `undefined`: not in this journal. */
  placedAgoMs(owner: string, callId: string): Promise<number | 'unknown' | undefined>
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
export const sameInBatchMs = 5 * 24 * 3_600_000

/** How long entries are kept, ms: longer than a request is repeated. */
export const keptForMs = 30 * 24 * 3_600_000

/** The longest time between `beginSending` and its deadline, ms. */
export const longestSendMs = 60_000

/*
 * The rules, for every implementation. A row is read and written in one operation among all processes.
 */

/** What is stored of an entry. `since`, `uptime` and `boot` are one Timestamp, and so are those of the first send. */
export const JournalRow = z.object({
  owner: z.string(),
  external_id: z.string(),
  content: z.string(),
  state: z.enum(['sending', 'placed', 'not_taken', 'free']),
  /** When it got into its state: the stamp that its holder knows it by. */
  since: z.coerce.number(),
  uptime: z.coerce.number(),
  boot: z.string(),
  /** The first send: when it was claimed. */
  sent: z.coerce.number(),
  sent_uptime: z.coerce.number(),
  sent_boot: z.string(),
  call_id: z.string().nullable(),
})
export type JournalRow = z.output<typeof JournalRow>

export const entryOf = (row: JournalRow): JournalEntry => ({
  owner: row.owner,
  externalId: row.external_id,
  state: row.state,
  stamp: row.since,
  firstSentAt: firstSentAt(row),
  callId: row.call_id,
})

/** The earliest time that any clock allows: the time of day may have been set before it was read, or since. */
function firstSentAt({ since, sent, sent_uptime, sent_boot }: JournalRow): number {
  const now = timestampIn()
  const byUptime = sent_boot === now.boot ? now.since - (now.uptime - sent_uptime) : since
  return Math.min(since, sent, byUptime)
}

/** What a claim finds: the entry of another caller, or an external id to insert or to use again. */
export type ClaimStep =
  | Exclude<Claim, { kind: 'mine' }>
  | { readonly kind: 'insert' | 'reuse'; readonly externalId: string }

/** `row`: the row of the identity. */
export function claimStep(
  row: JournalRow | undefined,
  { content, externalId }: CallIdentity,
): ClaimStep {
  if (!row) return { kind: 'insert', externalId: externalId ?? mintExternalId() }
  // There is no call, so the id may be used for a corrected one, too.
  if (row.state === 'free') return { kind: 'reuse', externalId: row.external_id }
  return { kind: row.content === content ? 'theirs' : 'conflict', entry: entryOf(row) }
}

/** What `find` gives of the row that stands for an identity. */
export const foundEntry = (
  row: JournalRow | undefined,
  { content }: CallIdentity,
): JournalEntry | undefined =>
  row && row.state !== 'free' && row.content === content ? entryOf(row) : undefined

/**
 * What `current` gives of a row, by the time since its stamp. `undefined`: that is unknown, and the sender
 * may have begun only now, so a new deadline has to be set.
 */
export const currentEntry = (
  row: JournalRow,
  elapsedMs: number | undefined,
): CurrentEntry | undefined =>
  elapsedMs === undefined && row.state === 'sending'
    ? undefined
    : { ...entryOf(row), sinceDeadlineMs: elapsedMs ?? 0 }

/** What `current` gives where it has set a new deadline, or another caller was faster. */
export const renewedEntry = (entry: JournalEntry): CurrentEntry => ({
  ...entry,
  sinceDeadlineMs: -longestSendMs,
})

/** Short, in lower case, letters and digits: the platform is to store it unchanged. */
export const mintExternalId = (): string => `auto-${randomBytes(12).toString('hex')}`

export const isMintedExternalId = (externalId: string): boolean =>
  /^auto-[\da-f]{24}$/.test(externalId)

/**
 * How far ahead of the clock a stamp is at most, ms. A stamp is never used twice: it identifies the
 * holder, so the next one is greater by 1 at least. Where the clock was set back by more than a holder can
 * still be at work, it is that of the clock: as one that is ahead of the clock, it would differ from the
 * uptime until the clock has caught up, and so long the elapsed time is unknown.
 */
export const longestStampAheadMs = 2 * longestSendMs
