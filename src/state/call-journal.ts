import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { timestampIn } from './clocks.ts'
import { StateError } from './state-access.ts'

/*
 * The journal: the record of every call that is sent to the platform, written before it is sent.
 * It ensures that a call is sent once: a repeated request, another process that shares the journal,
 * and a restarted process do not send the call again.
 *
 * States of an entry, and who may move it from one to the next:
 *
 *   (no entry) --claim--> sending            one caller; only it may send
 *   sending --beginSending--> sending        the holder, right before it sends: sets the deadline
 *   sending --endSending--> sending          the sender, when it stops earlier: deadline is now
 *   sending --release--> free                the holder, when it is certain that there is no call
 *   free --claim--> sending                  one caller
 *   sending --current--> sending             any caller, if the elapsed time is unknown (clock set,
 *                                            machine restarted): sets a new deadline
 *   sending, free --recordPlaced--> placed             any caller that knows of the call; final
 *   sending, free --recordNotAccepted--> not_taken     any caller that knows of the call; final
 *
 * Rules for every implementation:
 *
 * 1. Each method is one atomic operation among all processes that share the journal. No caller
 *    reads an entry and then writes it: between the two another request may run.
 * 2. The holder of an entry is the caller that knows its current `stamp`. `beginSending`,
 *    `endSending` and `release` compare the stamp, and change nothing if it differs. Every `claim`
 *    and `beginSending` makes a new stamp, which differs from those of all holders that may still
 *    send.
 * 3. A change is durable before the promise resolves. A method that rejects may have taken effect,
 *    so a caller whose `claim` or `beginSending` rejects does not send.
 * 4. Takeover: a caller that has read an entry with `current` may call `beginSending` with its
 *    stamp if the platform, asked long enough after the deadline, does not list the call. Of
 *    several such callers, one becomes the holder, and all others get `undefined`.
 */

/** Journal entry of one call. */
export interface JournalEntry {
  /** Owner of the call, in its stored form. */
  readonly owner: string
  /** External id: sent to the platform with the call, to find the call again. */
  readonly externalId: string
  /**
   * `sending`: the outcome is unknown. `placed`: the call exists. `not_taken`: the call exists, but
   * the platform did not accept it (`success: false`). `free`: the call does not exist.
   */
  readonly state: 'sending' | 'placed' | 'not_taken' | 'free'
  /**
   * Time of the entry's state, ms since 1970. After `beginSending` it is the deadline, after which
   * the sender sends nothing. The stamp also identifies the holder: see rule 2.
   */
  readonly stamp: number
  /**
   * Time of the first send, ms since 1970; the earliest time that the clocks allow. A new deadline
   * or a takeover keeps it. A claim of a free entry resets it.
   */
  readonly firstSentAt: number
  readonly callId: string | null
}

/** Key of a call's entry. */
export type CallKey = Pick<JournalEntry, 'owner' | 'externalId'>

/** Owner and content of a call. Equal identities mean the same call. */
export interface CallIdentity {
  /** Platform and account of the call. */
  readonly owner: string
  /** Hash of the request without the external id. */
  readonly content: string
  /** External id that the caller gave; `undefined`: the journal creates one. */
  readonly externalId: string | undefined
  /** Time for which an identical request without an external id means the same call, ms. */
  readonly sameForMs: number
}

export type Claim =
  /** This caller may send the call, and no other caller may. */
  | { readonly kind: 'mine'; readonly entry: JournalEntry }
  /** Another caller is sending the call or has sent it. */
  | { readonly kind: 'theirs'; readonly entry: JournalEntry }
  /** The external id belongs to another call, whose entry this is. */
  | { readonly kind: 'conflict'; readonly entry: JournalEntry }

/** An entry as it is now. */
export interface CurrentEntry extends JournalEntry {
  /**
   * Time since the last sender's deadline, ms; negative before the deadline. If the clock was set
   * or the machine restarted, the time is unknown, and the deadline is set anew.
   */
  readonly sinceDeadlineMs: number
}

/**
 * See the protocol above. The first use opens the journal. Every method rejects with JournalError
 * if the journal is unusable.
 */
export interface Journal {
  /** Returns the right to send the call, or the entry of the caller that has this right. */
  claim(identity: CallIdentity): Promise<Claim>
  /** The entry of an identical request; `undefined` if there is none, or if it placed no call. */
  find(identity: CallIdentity): Promise<JournalEntry | undefined>
  /** The entry as it is now; `undefined` if it was pruned. */
  current(entry: JournalEntry): Promise<CurrentEntry | undefined>
  /**
   * Records that the holder sends now, for at most `forMs`. Called after a claim, and for a
   * takeover. `undefined`: another caller was faster.
   */
  beginSending(entry: JournalEntry, forMs: number): Promise<JournalEntry | undefined>
  /** Records that the sender stopped before its deadline. */
  endSending(entry: JournalEntry): Promise<void>
  /** Records that the call exists. */
  recordPlaced(entry: JournalEntry, callId: string): Promise<void>
  /** Records that the call exists, but that the platform did not accept it. */
  recordNotAccepted(entry: JournalEntry, callId: string): Promise<void>
  /**
   * Records that the call does not exist. Has no effect if another caller has become the holder.
   */
  release(entry: JournalEntry): Promise<void>
  /**
   * Time since a call was placed, ms; `unknown` if a clock was set; `undefined` if the journal does
   * not have the call.
   */
  placedAgoMs(owner: string, callId: string): Promise<number | 'unknown' | undefined>
  /** Reads a note: the last value written under a name, such as the stop of all calls. */
  readNote(name: string): Promise<string | undefined>
  writeNote(name: string, value: string): Promise<void>
}

/** Thrown if the journal is unusable. No call is placed without it. */
export class JournalError extends StateError {
  override readonly name = 'JournalError'
}

/** Waits for a use of the journal. Throws JournalError where the use throws StateError. */
export async function usingJournal<T>(use: Promise<T>): Promise<T> {
  try {
    return await use
  } catch (error) {
    if (!(error instanceof StateError) || error instanceof JournalError) throw error
    throw new JournalError(
      `${error.message} Without the journal of calls, a call could be placed twice, so no call is placed.`,
      { cause: error, isTemporary: error.isTemporary },
    )
  }
}

/**
 * Time for which an identical request without an external id means the same call, ms. After it, the
 * request means a new call.
 */
export const sameCallMs = 10 * 60_000

/**
 * Like `sameCallMs`, for a call of a batch. Several days, because a long batch takes several
 * requests, and nights, a long weekend and the dial policy may delay the next request. Less than a
 * week, because a weekly batch calls the same people again.
 */
export const sameInBatchMs = 5 * 24 * 3_600_000

/** Time for which entries are kept, ms. Longer than anybody retries a request. */
export const keptForMs = 30 * 24 * 3_600_000

/** Maximum time from `beginSending` to its deadline, ms. */
export const longestSendMs = 60_000

/*
 * Rules that all implementations share. A row is read and written in one atomic operation among all
 * processes.
 */

/**
 * Stored form of an entry. `since`, `uptime` and `boot` form a Timestamp, and so do the three
 * fields of the first send.
 */
export const JournalRow = z.object({
  owner: z.string(),
  external_id: z.string(),
  content: z.string(),
  state: z.enum(['sending', 'placed', 'not_taken', 'free']),
  /** Time of the entry's state, which is the holder's stamp. */
  since: z.coerce.number(),
  uptime: z.coerce.number(),
  boot: z.string(),
  /** Time of the first send: the time of the claim. */
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

/**
 * Time of the first send: the earliest time that the clocks give, because the time of day may have
 * been set since.
 */
function firstSentAt({ since, sent, sent_uptime, sent_boot }: JournalRow): number {
  const now = timestampIn()
  const byUptime = sent_boot === now.boot ? now.since - (now.uptime - sent_uptime) : since
  return Math.min(since, sent, byUptime)
}

/**
 * What a claim does after its look-up: returns another caller's entry, or inserts or reuses an
 * external id.
 */
type ClaimStep =
  | Exclude<Claim, { kind: 'mine' }>
  | { readonly kind: 'insert' | 'reuse'; readonly externalId: string }

/** Decides a claim. `row`: the stored row with the same identity. */
export function claimStep(
  row: JournalRow | undefined,
  { content, externalId }: CallIdentity,
): ClaimStep {
  if (!row) return { kind: 'insert', externalId: externalId ?? mintExternalId() }
  // A free entry placed no call, so a corrected request may reuse its external id.
  if (row.state === 'free') return { kind: 'reuse', externalId: row.external_id }
  return { kind: row.content === content ? 'theirs' : 'conflict', entry: entryOf(row) }
}

/** Result of `find` for the row with the identity. */
export const foundEntry = (
  row: JournalRow | undefined,
  { content }: CallIdentity,
): JournalEntry | undefined =>
  row && row.state !== 'free' && row.content === content ? entryOf(row) : undefined

/**
 * Result of `current` for a row. `elapsedMs`: time since the row's stamp; `undefined` if unknown. A
 * sender whose elapsed time is unknown may have begun just now: then the result is `undefined`, and
 * the caller sets a new deadline.
 */
export const currentEntry = (
  row: JournalRow,
  elapsedMs: number | undefined,
): CurrentEntry | undefined =>
  elapsedMs === undefined && row.state === 'sending'
    ? undefined
    : { ...entryOf(row), sinceDeadlineMs: elapsedMs ?? 0 }

/**
 * Result of `current` if the elapsed time was unknown. This caller, or a faster one, has just set a
 * new deadline, which counts as `longestSendMs` ahead.
 */
export const renewedEntry = (entry: JournalEntry): CurrentEntry => ({
  ...entry,
  sinceDeadlineMs: -longestSendMs,
})

/**
 * Creates an external id: short, lower-case letters and digits, so that the platform stores it
 * unchanged.
 */
export const mintExternalId = (): string => `auto-${randomBytes(12).toString('hex')}`

export const isMintedExternalId = (externalId: string): boolean =>
  /^auto-[\da-f]{24}$/.test(externalId)

/**
 * Maximum time by which a stamp may be ahead of the clock, ms. Stamps identify holders and are
 * never reused, so the next stamp is normally greater than the last one, even if the clock was set
 * back. But a stamp far ahead of the clock would contradict the uptime, and elapsed times would be
 * unknown until the clock catches up. Beyond this bound no earlier holder can still be sending, so
 * the next stamp is the clock's time.
 */
export const longestStampAheadMs = 2 * longestSendMs
