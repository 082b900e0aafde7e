import * as z from 'zod'
import {
  type CallIdentity,
  type Claim,
  type Journal,
  type JournalEntry,
  JournalError,
  keptForMs,
  longestSendMs,
  sameCallMs,
} from '../journal.ts'
import { claimStep, entryOf, longestStampAheadMs, mintExternalId } from '../journal-rules.ts'
import { StateError } from '../state-error.ts'
import { type Database, databaseNow, NoRow, type RunSql } from './database.ts'
import { currentEntry, elapsedSince, JournalRow, rowColumns } from './journal-rows.ts'

/**
 * The journal in PostgreSQL, for servers on any machines. Claims of one owner run one after the other;
 * every other method is one statement that compares what it changes.
 */
export function createPostgresJournal(database: Database): Journal {
  const journal = inErrors(database)
  return {
    ...claiming(journal),
    ...recording(journal),
    ...notes(journal),
    close: async () => undefined,
  }
}

/** The same database, with the errors of a journal. */
function inErrors(database: Database): Pick<Database, 'run' | 'transaction' | 'seal'> {
  const refusing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      throw new JournalError(
        `${error.message} Without the journal of calls, which is in it, a call could be placed twice, so none is.`,
        { cause: error },
      )
    }
  }
  return {
    run: (...statement) => refusing(database.run(...statement)),
    transaction: (...work) => refusing(database.transaction(...work)),
    seal: (text) => refusing(database.seal(text)),
  }
}

type JournalDatabase = ReturnType<typeof inErrors>
type Claiming = Pick<Journal, 'claim' | 'find' | 'current' | 'beginSending' | 'placedAgoMs'>

/** What decides who sends. */
const claiming = (database: JournalDatabase): Claiming => {
  const purge = hourly(() => database.run(NoRow, purgeSql, [keptForMs, Date.now() - keptForMs]))
  return {
    async claim(identity) {
      const own = await sealed(identity, database)
      void purge()
      return database.transaction(`calls of ${own.owner}`, (run) => claimRow(run, own))
    },
    async find(identity) {
      const own = await sealed(identity, database)
      const row = await rowFor(database.run, own)
      const isKnown = row && row.state !== 'free' && row.content === own.content
      return isKnown ? entryOf(row) : undefined
    },
    async current(entry) {
      const [row] = await database.run(JournalRow, byIdSql, [entry.owner, entry.externalId])
      if (!row) return undefined
      const elapsed = elapsedSince(row)
      if (elapsed !== undefined || row.state !== 'sending') return currentEntry(row, elapsed ?? 0)
      // The elapsed time is unknown: the sender may have begun only now.
      const renewed = await restamp(database.run, entryOf(row), longestSendMs)
      return { ...(renewed ?? entryOf(row)), sinceDeadlineMs: -longestSendMs }
    },
    beginSending: (entry, forMs) => restamp(database.run, entry, forMs),
    async placedAgoMs({ owner }, callId) {
      const [row] = await database.run(JournalRow, byCallSql, [await database.seal(owner), callId])
      return row && elapsedSince(row)
    },
  }
}

const select = `SELECT ${rowColumns} FROM voice_agent_mcp.calls`
const byIdSql = `${select} WHERE owner = $1 AND external_id = $2`
const byCallSql = `${select} WHERE owner = $1 AND call_id = $2`
// As in SQLite: a call of unknown outcome stays the same call, a free row is the last choice, and a row
// is recent where either clock says so.
const byContentSql = `${select} WHERE owner = $1 AND content = $2 AND minted
  AND (state = 'sending' OR since > ${databaseNow} - $3::bigint OR replica_since > $4::bigint)
  ORDER BY state = 'free', since DESC LIMIT 1`
const purgeSql = `DELETE FROM voice_agent_mcp.calls
  WHERE since < ${databaseNow} - $1::bigint AND replica_since < $2::bigint`

/**
 * The row that stands for an identity; `lock` keeps others from changing it. Former owners are not
 * looked up: no version that wrote them has used a database.
 */
async function rowFor(
  run: RunSql,
  { owner, content, externalId, sameForMs = sameCallMs }: CallIdentity,
  lock: '' | ' FOR UPDATE' = '',
): Promise<JournalRow | undefined> {
  const [row] =
    externalId === undefined
      ? await run(JournalRow, byContentSql + lock, [
          owner,
          content,
          sameForMs,
          Date.now() - sameForMs,
        ])
      : await run(JournalRow, byIdSql + lock, [owner, externalId])
  return row
}

async function claimRow(run: RunSql, identity: CallIdentity): Promise<Claim> {
  const { owner, content } = identity
  const row = await rowFor(run, identity, ' FOR UPDATE')
  const step = claimStep(row, content)
  if (step === 'conflict') return { kind: 'conflict' }
  if (row && step === 'theirs') return { kind: 'theirs', entry: entryOf(row) }
  const isMinted = identity.externalId === undefined
  const externalId = row?.external_id ?? identity.externalId ?? mintExternalId()
  const [claimed] = row
    ? await run(JournalRow, reuseSql, [owner, externalId, content, Date.now()])
    : await run(JournalRow, insertSql, [owner, externalId, content, isMinted, Date.now()])
  if (!claimed) throw new Error('a row that was just written is not there')
  return { kind: 'mine', entry: entryOf(claimed) }
}

/**
 * The stamp at `at` of a row that has one already, by the same rule as `laterThan`: where the clock
 * was set back, it is that of the clock.
 */
const laterThanSince = `CASE WHEN since - at > ${longestStampAheadMs} THEN at
  ELSE GREATEST(at, since + 1) END`

const insertSql = `
  INSERT INTO voice_agent_mcp.calls
    (owner, external_id, content, minted, state, since, replica_since)
  VALUES ($1, $2, $3, $4, 'sending', ${databaseNow}, $5) RETURNING ${rowColumns}`
const reuseSql = `
  WITH clock AS MATERIALIZED (SELECT ${databaseNow} AS at)
  UPDATE voice_agent_mcp.calls SET state = 'sending', content = $3,
    since = ${laterThanSince}, replica_since = $4
  FROM clock WHERE owner = $1 AND external_id = $2 RETURNING ${rowColumns}`

/** `undefined`: the entry has another stamp by now, so another caller holds it. */
async function restamp(
  run: RunSql,
  { owner, externalId, stamp }: JournalEntry,
  forMs: number,
): Promise<JournalEntry | undefined> {
  const waitMs = Math.ceil(forMs)
  const values = [owner, externalId, stamp, waitMs, Date.now() + waitMs]
  const [row] = await run(JournalRow, restampSql, values)
  return row && entryOf(row)
}

const restampSql = `
  WITH clock AS MATERIALIZED (SELECT ${databaseNow} + $4::bigint AS at)
  UPDATE voice_agent_mcp.calls SET since = ${laterThanSince}, replica_since = $5
  FROM clock WHERE owner = $1 AND external_id = $2 AND state = 'sending' AND since = $3
  RETURNING ${rowColumns}`

type Recording = Pick<Journal, 'endSending' | 'recordPlaced' | 'recordNotAccepted' | 'release'>

/** What came of a call. */
const recording = ({ run }: JournalDatabase): Recording => {
  const settle = (state: 'placed' | 'not_taken') => async (entry: JournalEntry, callId: string) => {
    await run(NoRow, settleSql, [entry.owner, entry.externalId, state, callId, Date.now()])
  }
  return {
    recordPlaced: settle('placed'),
    recordNotAccepted: settle('not_taken'),
    async endSending({ owner, externalId, stamp }) {
      await run(NoRow, endSendingSql, [owner, externalId, stamp, Date.now()])
    },
    async release({ owner, externalId, stamp }) {
      await run(NoRow, releaseSql, [owner, externalId, stamp])
    },
  }
}

const settleSql = `
  UPDATE voice_agent_mcp.calls
  SET state = $3, call_id = $4, since = ${databaseNow}, replica_since = $5
  WHERE owner = $1 AND external_id = $2 AND state NOT IN ('placed', 'not_taken')`
const endSendingSql = `
  UPDATE voice_agent_mcp.calls SET since = ${databaseNow}, replica_since = $4
  WHERE owner = $1 AND external_id = $2 AND state = 'sending' AND since = $3
    AND ${databaseNow} < since`
const releaseSql = `
  UPDATE voice_agent_mcp.calls SET state = 'free'
  WHERE owner = $1 AND external_id = $2 AND state = 'sending' AND since = $3`

const NoteRow = z.object({ value: z.string() })

const notes = ({ run, seal }: JournalDatabase): Pick<Journal, 'readNote' | 'writeNote'> => ({
  async readNote(name) {
    const sql = 'SELECT value FROM voice_agent_mcp.notes WHERE name = $1'
    return (await run(NoteRow, sql, [await seal(name)]))[0]?.value
  },
  async writeNote(name, value) {
    const sql = `INSERT INTO voice_agent_mcp.notes VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`
    await run(NoRow, sql, [await seal(name), value])
  },
})

/** An identity as it is stored. */
async function sealed(
  identity: CallIdentity,
  { seal }: Pick<Database, 'seal'>,
): Promise<CallIdentity> {
  const [owner, content] = await Promise.all([seal(identity.owner), seal(identity.content)])
  return { ...identity, owner, content }
}

/** Runs work at most once an hour. If it fails, the next hour does it. */
function hourly(work: () => Promise<unknown>): () => Promise<void> {
  let last = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - last < 3_600_000) return
    last = performance.now()
    await work().catch(() => undefined)
  }
}
