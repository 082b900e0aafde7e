import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { openStateFile, patiently, type StateFile, transaction } from '../state-file.ts'

/** What is known of one placement: which call it was to be, and how far it got. */
export interface Entry {
  /** Correlation id that the platform is given with the call. */
  readonly externalId: string
  /**
   * `sending`: nobody knows yet; `placed`: there is a call; `not_taken`: there is one that the
   * platform said it did not take; `free`: there is none.
   */
  readonly state: 'sending' | 'placed' | 'not_taken' | 'free'
  /**
   * When it was last claimed, or known to be placed, ms since 1970; of what is sent, when its sender
   * gave up, or will at the latest: after that it leaves no more.
   */
  readonly since: number
  readonly callId: string | null
}

/** Whose call it is to be, and what exactly: the same identity is the same call. */
export interface Identity {
  /** Hash of the API key, and the account. */
  readonly owner: string
  /** Everything that is sent except the external id. */
  readonly content: string
  /** The caller's own; `undefined`: one is minted from the identity. */
  readonly externalId: string | undefined
  /** How long an identical request without an external id means the same call, ms. */
  readonly sameForMs?: number | undefined
}

export type Claim =
  /** It is the caller's to send. */
  | { readonly kind: 'mine'; readonly entry: Entry }
  /** Somebody sends it, or has sent it, or nobody knows. */
  | { readonly kind: 'theirs'; readonly entry: Entry }
  /** The external id stands for another call. */
  | { readonly kind: 'taken' }

/**
 * The record of what was sent, written before it is sent, so that nothing is sent twice: not by a
 * repeated request, another process on the same file, or after a restart. While another process
 * writes to the file, all methods wait without blocking this process. They throw JournalError.
 */
export interface Journal {
  /** Takes the right to send, or tells who has it. Atomic among all processes on the file. */
  claim(identity: Identity, now: number): Promise<Claim>
  /** What is known of an identical request; `undefined`: there was none, or nothing came of it. */
  look(identity: Identity, now: number): Promise<Entry | undefined>
  /** How an entry stands by now. */
  entry(owner: string, externalId: string): Promise<Entry | undefined>
  /**
   * It is sent now, by a sender who gives up at `until`: to be said right before, by who has claimed
   * it and by who takes it over from a sender of whom nothing was heard since `entry.since`.
   * `undefined`: somebody else was faster.
   */
  sending(owner: string, entry: Entry, until: number): Promise<Entry | undefined>
  /** Its sender has given up, earlier than it said. */
  gaveUp(owner: string, entry: Entry, now: number): Promise<void>
  /** There is a call. */
  placed(owner: string, externalId: string, callId: string, now: number): Promise<void>
  /** There is a record of a call that the platform said it did not take. */
  notTaken(owner: string, externalId: string, callId: string, now: number): Promise<void>
  /** There is none and there will be none, unless somebody else has sent it since. */
  free(owner: string, entry: Entry): Promise<void>
  close(): void
}

/**
 * How long an identical request without an external id of its own means the same call, ms. After
 * that, somebody who asks for the same again wants it again.
 */
const sameCallMs = 10 * 60_000

/**
 * The same for a call of a list, which takes several requests to get through, with nights, limits
 * and long weekends between them: shorter than the week after which a list may be due again.
 */
export const sameInListMs = 5 * 24 * 3_600_000

/** How long entries are kept, ms: longer than anybody repeats a request. */
const keptForMs = 30 * 24 * 3_600_000

const Row = z.object({
  external_id: z.string(),
  content: z.string(),
  state: z.enum(['sending', 'placed', 'not_taken', 'free']),
  since: z.number(),
  call_id: z.string().nullable(),
})

const kind: StateFile = {
  // "once"
  applicationId: 0x6f6e6365,
  version: 1,
  schema: `
    CREATE TABLE placements (
      owner TEXT NOT NULL,
      external_id TEXT NOT NULL,
      content TEXT NOT NULL,
      minted INTEGER NOT NULL,
      state TEXT NOT NULL,
      since INTEGER NOT NULL,
      call_id TEXT,
      PRIMARY KEY (owner, external_id)
    ) STRICT;
    CREATE INDEX placements_by_content ON placements (owner, content, since)`,
}

/** The journal cannot be kept; without it no call is placed. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
}

/** Opens, and if need be creates, the journal. `:memory:` forgets with the process. */
export async function openJournal(file: string): Promise<Journal> {
  try {
    const db = await openStateFile(file, kind)
    const forget = db.prepare('DELETE FROM placements WHERE since < ?')
    await patiently(() => forget.run(Date.now() - keptForMs))
    return journalOn(db, file)
  } catch (error) {
    throw unusable(file, error)
  }
}

const unusable = (file: string, error: unknown) =>
  new JournalError(
    `The journal of calls ${file} cannot be used: ${error instanceof Error ? error.message : error}. Without it a call could be placed twice, so none is. Let this program read and write the file and its folder, or name another folder with VOICE_AGENT_STATE_DIR.`,
    { cause: error },
  )

function journalOn(db: DatabaseSync, file: string): Journal {
  const byId = db.prepare('SELECT * FROM placements WHERE owner = ? AND external_id = ?')
  // What nobody knows the outcome of stays the same call until somebody does; and one that came to
  // nothing says nothing of one that was placed.
  const byContent = db.prepare(
    `SELECT * FROM placements WHERE owner = ? AND content = ? AND minted = 1
     AND (state = 'sending' OR since > ?) ORDER BY state = 'free', since DESC LIMIT 1`,
  )
  const insert = db.prepare(
    `INSERT INTO placements (owner, external_id, content, minted, state, since)
     VALUES (?, ?, ?, ?, 'sending', ?)`,
  )
  const reuse = db.prepare(
    `UPDATE placements SET state = 'sending', since = ?, content = ?
     WHERE owner = ? AND external_id = ?`,
  )
  const resend = db.prepare(
    `UPDATE placements SET since = ?
     WHERE owner = ? AND external_id = ? AND state = 'sending' AND since = ?`,
  )
  const settle = db.prepare(
    `UPDATE placements SET state = ?, call_id = ?, since = ?
     WHERE owner = ? AND external_id = ? AND state NOT IN ('placed', 'not_taken')`,
  )
  const release = db.prepare(
    `UPDATE placements SET state = 'free'
     WHERE owner = ? AND external_id = ? AND state = 'sending' AND since = ?`,
  )
  const guarded = async <T>(work: () => T): Promise<T> => {
    try {
      return await patiently(work)
    } catch (error) {
      throw error instanceof JournalError ? error : unusable(file, error)
    }
  }
  const find = (identity: Identity, now: number) => {
    const { owner, content, externalId, sameForMs = sameCallMs } = identity
    const row =
      externalId === undefined
        ? byContent.get(owner, content, now - sameForMs)
        : byId.get(owner, externalId)
    return row && Row.parse(row)
  }
  const claim = (identity: Identity, now: number): Claim => {
    const { owner, content } = identity
    const found = find(identity, now)
    if (found?.state === 'free') {
      // Nothing came of it, so its id is free for a corrected call, too. Later than it was freed,
      // lest who had it before takes it for theirs.
      const since = Math.max(now, found.since + 1)
      reuse.run(since, content, owner, found.external_id)
      return { kind: 'mine', entry: sendingSince(found.external_id, since) }
    }
    if (found && found.content !== content) return { kind: 'taken' }
    if (found) return { kind: 'theirs', entry: entryOf(found) }
    const externalId = identity.externalId ?? mint(identity, now)
    insert.run(owner, externalId, content, Number(identity.externalId === undefined), now)
    return { kind: 'mine', entry: sendingSince(externalId, now) }
  }
  return {
    claim: (identity, now) =>
      guarded(() => transaction(db, 'BEGIN IMMEDIATE', () => claim(identity, wholeMs(now)))),
    look: (identity, now) =>
      guarded(() => {
        const found = find(identity, now)
        const isKnown = found && found.state !== 'free' && found.content === identity.content
        return isKnown ? entryOf(found) : undefined
      }),
    entry: (owner, externalId) =>
      guarded(() => {
        const row = byId.get(owner, externalId)
        return row && entryOf(Row.parse(row))
      }),
    sending: (owner, { externalId, since: before }, until) =>
      guarded(() => {
        // Never the same instant again: it is how senders know their own entry from another's.
        const since = Math.max(wholeMs(until), before + 1)
        const { changes } = resend.run(since, owner, externalId, before)
        return changes === 1 ? sendingSince(externalId, since) : undefined
      }),
    gaveUp: (owner, entry, now) =>
      guarded(() => {
        if (now < entry.since) resend.run(wholeMs(now), owner, entry.externalId, entry.since)
      }),
    placed: (owner, externalId, callId, now) =>
      guarded(() => void settle.run('placed', callId, wholeMs(now), owner, externalId)),
    notTaken: (owner, externalId, callId, now) =>
      guarded(() => void settle.run('not_taken', callId, wholeMs(now), owner, externalId)),
    free: (owner, { externalId, since }) =>
      guarded(() => void release.run(owner, externalId, since)),
    close: () => db.close(),
  }
}

/**
 * Instants are kept in whole ms, since SQLite refuses fractions in a STRICT integer column: callers
 * give any, and here is the one place where they are rounded, up, so that nothing ends too early.
 */
const wholeMs = Math.ceil

const sendingSince = (externalId: string, since: number): Entry => ({
  externalId,
  state: 'sending',
  since,
  callId: null,
})

const entryOf = ({ external_id, state, since, call_id }: z.output<typeof Row>): Entry => ({
  externalId: external_id,
  state,
  since,
  callId: call_id,
})

/** Such as `auto-3q2-7wX…`: of this identity, at this time. */
const mint = ({ owner, content }: Identity, now: number) =>
  `auto-${createHash('sha256').update(`${owner}\n${content}\n${now}`).digest('base64url').slice(0, 24)}`
