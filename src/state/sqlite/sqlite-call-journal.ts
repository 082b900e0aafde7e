import { type BigIntStats, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import {
  type CallIdentity,
  type CallKey,
  type Claim,
  claimStep,
  currentEntry,
  entryOf,
  foundEntry,
  type Journal,
  type JournalEntry,
  JournalError,
  JournalRow,
  keptForMs,
  longestSendMs,
  longestStampAheadMs,
  renewedEntry,
  usingJournal,
} from '../call-journal.ts'
import { elapsedByUptime, elapsedSince, type Timestamp, timestampIn } from '../clocks.ts'
import {
  createSecret,
  type InFile,
  lazyStateFile,
  type StateFile,
  transaction,
  type UseFile,
} from './state-file.ts'

/**
 * The journal in an SQLite file, which processes on one machine may share. While another process
 * writes, methods wait without blocking this process. If the file was deleted or replaced while it
 * was open, no more calls are placed.
 */
export function createSqliteJournal(path: string, setting: string): SqliteJournal {
  const file = journalFile(path, setting)
  const { useIntact } = file
  return {
    ...claiming(file),
    ...recording(file),
    readNote: (name) => useIntact(({ db, hash }) => noteIn(db, hash(name))),
    writeNote: (name, value) =>
      useIntact(
        ({ db, hash }) =>
          void db.prepare('INSERT OR REPLACE INTO notes VALUES (?, ?)').run(hash(name), value),
      ),
    check: () => useIntact(() => undefined),
    close: file.close,
  }
}

export interface SqliteJournal extends Journal, InFile {
  /** Opens the file. Throws JournalError if it is unusable. */
  check(): Promise<void>
}

/**
 * Owners, contents and names of notes are stored as keyed hashes (`keyedHashOf`), so the file
 * contains neither API keys nor phone numbers.
 */
export const journalSchema: StateFile = {
  // "once" in ASCII.
  applicationId: 0x6f6e6365,
  version: 3,
  holds: 'the journal of calls',
  create(db) {
    db.exec(`
    CREATE TABLE calls (
      owner TEXT NOT NULL,
      external_id TEXT NOT NULL,
      content TEXT NOT NULL,
      minted INTEGER NOT NULL,
      state TEXT NOT NULL,
      since INTEGER NOT NULL,
      uptime INTEGER NOT NULL,
      boot TEXT NOT NULL,
      call_id TEXT,
      sent INTEGER NOT NULL,
      sent_uptime INTEGER NOT NULL,
      sent_boot TEXT NOT NULL,
      PRIMARY KEY (owner, external_id)
    ) STRICT;
    CREATE INDEX calls_by_content ON calls (owner, content, since);
    CREATE INDEX calls_by_call ON calls (owner, call_id);
    CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`)
    createSecret(db)
  },
}

type Claiming = Pick<Journal, 'claim' | 'find' | 'current' | 'beginSending' | 'placedAgoMs'>

/** The methods that decide which caller sends. */
const claiming = ({ use, useIntact, fault }: JournalFile): Claiming => ({
  claim: (identity) =>
    useIntact(({ db, hash }) =>
      transaction(db, 'BEGIN IMMEDIATE', () => claimRow(db, hashed(identity, hash))),
    ),
  find: (identity) =>
    useIntact(({ db, hash }) => {
      const own = hashed(identity, hash)
      return foundEntry(rowFor(db, own), own)
    }),
  current: (entry) =>
    use(({ db }) => {
      const row = rowOf(db.prepare(byIdSql).get(entry.owner, entry.externalId))
      if (!row) return undefined
      const current = currentEntry(row, elapsedSince(row))
      if (current) return current
      return renewedEntry(setDeadline(db, entryOf(row), longestSendMs) ?? entryOf(row))
    }),
  beginSending: (entry, forMs) =>
    use(({ db }) => {
      const sending = setDeadline(db, entry, forMs)
      // If the file was deleted or replaced, other processes do not see the entry, and could send
      // the same call.
      const why = fault()
      if (!why) return sending
      if (sending) releaseRow(db, sending)
      throw why
    }),
  placedAgoMs: (owner, callId) =>
    useIntact(({ db, hash }) => {
      const row = rowOf(db.prepare(byCallSql).get(hash(owner), callId))
      return row && (elapsedByUptime(row) ?? 'unknown')
    }),
})

const hashed = (identity: CallIdentity, hash: (text: string) => string): CallIdentity => ({
  ...identity,
  owner: hash(identity.owner),
  content: hash(identity.content),
})

const rowOf = (row: unknown): JournalRow | undefined => JournalRow.optional().parse(row)

const byIdSql = 'SELECT * FROM calls WHERE owner = ? AND external_id = ?'
const byCallSql = 'SELECT * FROM calls WHERE owner = ? AND call_id = ?'
// A row whose outcome is unknown matches at any age. Other rows match while they are recent by
// either clock, so that setting the clock forward causes no second call. A free row is returned only
// if no other row matches, because another row may have a placed call.
const byContentSql = `
  SELECT * FROM calls WHERE owner = :owner AND content = :content AND minted = 1
    AND (state = 'sending' OR since > :since OR (boot = :boot AND uptime > :uptime))
  ORDER BY state = 'free', since DESC LIMIT 1`

/** Finds the row with an identity. */
const rowFor = (
  db: DatabaseSync,
  { owner, content, externalId, sameForMs }: CallIdentity,
): JournalRow | undefined =>
  externalId === undefined
    ? rowOf(db.prepare(byContentSql).get({ owner, content, ...timestampIn(-sameForMs) }))
    : rowOf(db.prepare(byIdSql).get(owner, externalId))

const insertSql = `
  INSERT INTO calls (owner, external_id, content, minted, state,
    since, uptime, boot, sent, sent_uptime, sent_boot)
  VALUES (:owner, :externalId, :content, :minted, 'sending',
    :since, :uptime, :boot, :since, :uptime, :boot)`
const reuseSql = `
  UPDATE calls SET state = 'sending', content = :content, since = :since, uptime = :uptime,
    boot = :boot, sent = :since, sent_uptime = :uptime, sent_boot = :boot
  WHERE owner = :owner AND external_id = :externalId`

function claimRow(db: DatabaseSync, identity: CallIdentity): Claim {
  const row = rowFor(db, identity)
  const step = claimStep(row, identity)
  if ('entry' in step) return step
  const { owner, content } = identity
  const key: CallKey = { owner, externalId: step.externalId }
  const at = row ? laterThan(row.since, timestampIn()) : timestampIn()
  if (row) db.prepare(reuseSql).run({ ...key, content, ...at })
  else {
    const minted = Number(identity.externalId === undefined)
    db.prepare(insertSql).run({ ...key, content, minted, ...at })
  }
  const { since } = at
  return {
    kind: 'mine',
    entry: { ...key, state: 'sending', stamp: since, firstSentAt: since, callId: null },
  }
}

/** The next stamp at an instant: see `longestStampAheadMs`. */
const laterThan = (stamp: number, at: Timestamp): Timestamp =>
  stamp - at.since > longestStampAheadMs ? at : { ...at, since: Math.max(at.since, stamp + 1) }

const restampSql = `
  UPDATE calls SET since = :since, uptime = :uptime, boot = :boot
  WHERE owner = :owner AND external_id = :externalId AND state = 'sending' AND since = :stamp`

/** Gives a row in the state `sending` another timestamp. Returns false if its stamp has changed. */
const restamp = (
  db: DatabaseSync,
  { owner, externalId, stamp }: JournalEntry,
  at: Timestamp,
): boolean => db.prepare(restampSql).run({ owner, externalId, stamp, ...at }).changes === 1

/**
 * Sets a new deadline; `undefined` if the stamp has changed, so that another caller holds the
 * entry.
 */
function setDeadline(
  db: DatabaseSync,
  entry: JournalEntry,
  inMs: number,
): JournalEntry | undefined {
  const deadline = laterThan(entry.stamp, timestampIn(inMs))
  return restamp(db, entry, deadline) ? { ...entry, stamp: deadline.since } : undefined
}

type Recording = Pick<Journal, 'endSending' | 'recordPlaced' | 'recordNotAccepted' | 'release'>

const settleSql = `
  UPDATE calls SET state = :state, call_id = :callId, since = :since, uptime = :uptime, boot = :boot
  WHERE owner = :owner AND external_id = :externalId AND state NOT IN ('placed', 'not_taken')`

/** The methods that record outcomes. */
const recording = ({ use }: JournalFile): Recording => {
  const settle = (state: 'placed' | 'not_taken') => (entry: JournalEntry, callId: string) =>
    use(({ db }) => {
      const { owner, externalId } = entry
      db.prepare(settleSql).run({ owner, externalId, state, callId, ...timestampIn() })
    })
  return {
    endSending: (entry) =>
      use(({ db }) => {
        const now = timestampIn()
        if (now.since < entry.stamp) restamp(db, entry, now)
      }),
    recordPlaced: settle('placed'),
    recordNotAccepted: settle('not_taken'),
    release: (entry) => use(({ db }) => releaseRow(db, entry)),
  }
}

const releaseSql = `
  UPDATE calls SET state = 'free'
  WHERE owner = ? AND external_id = ? AND state = 'sending' AND since = ?`

function releaseRow(db: DatabaseSync, { owner, externalId, stamp }: JournalEntry): void {
  db.prepare(releaseSql).run(owner, externalId, stamp)
}

const NoteRow = z.object({ value: z.string() }).optional()

/** Value of a note. `name`: the hash of its name. */
export const noteIn = (db: DatabaseSync, name: string): string | undefined =>
  NoteRow.parse(db.prepare('SELECT value FROM notes WHERE name = ?').get(name))?.value

/** The journal's file. Its functions throw JournalError. */
interface JournalFile extends InFile {
  readonly use: UseFile
  /** Like `use`, but refuses a file that was deleted or replaced. */
  readonly useIntact: UseFile
  /**
   * Reason why other processes do not find this file: on most systems an open file can be deleted,
   * and stays usable for processes that have it open. `undefined`: the path still leads to the
   * file.
   */
  readonly fault: () => JournalError | undefined
}

const purgeSql =
  'DELETE FROM calls WHERE since < :since AND NOT (boot = :boot AND uptime >= :uptime)'

function journalFile(path: string, setting: string): JournalFile {
  /** Identity of the open file; `undefined` in memory. */
  let opened: BigIntStats | undefined
  const { use: useFile, close } = lazyStateFile(path, setting, journalSchema, (db) => {
    db.prepare(purgeSql).run({ ...timestampIn(-keptForMs) })
    opened = statOf(path)
    // The file was deleted while it was being opened.
    if (!opened && path !== ':memory:') throw new JournalError(deleted(path))
  })
  const use: UseFile = (work) => usingJournal(useFile(work))
  const fault = () => {
    if (!opened) return undefined
    const now = statOf(path)
    if (!now) return new JournalError(deleted(path))
    const isSame = now.ino === opened.ino && now.dev === opened.dev
    return isSame ? undefined : new JournalError(replaced(path))
  }
  return {
    use,
    useIntact: (work) =>
      use((file) => {
        const why = fault()
        if (why) throw why
        return work(file)
      }),
    fault,
    close,
  }
}

const statOf = (path: string): BigIntStats | undefined =>
  path === ':memory:' ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false })

const deleted = (path: string) =>
  `The journal of calls ${path} was deleted while this program was running. Other programs cannot see the calls that this program placed, so it places no more calls. Restart it, and look with list_calls before you repeat an earlier call.`

const replaced = (path: string) =>
  `The journal of calls ${path} was replaced by another one while this program was running. The new journal does not have the calls that this program placed, so it places no more calls. Restart it, and look with list_calls before you repeat an earlier call.`
