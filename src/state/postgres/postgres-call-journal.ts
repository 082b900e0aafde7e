import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import {
  type CallIdentity,
  type Claim,
  claimStep,
  currentEntry,
  entryOf,
  foundEntry,
  type Journal,
  type JournalEntry,
  JournalRow,
  keptForMs,
  longestSendMs,
  longestStampAheadMs,
  renewedEntry,
  usingJournal,
} from '../call-journal.ts'
import { minStepMs, timestampIn, type WatchedClock } from '../clocks.ts'
import { withoutStateDeadline } from '../state-access.ts'
import {
  type Database,
  databaseNow,
  maxClockDifferenceMs,
  NoRow,
  oncePer,
  type RunSql,
} from './database.ts'

/**
 * The journal in PostgreSQL, for servers on any machines. Claims of one owner run one after the
 * other. Every other method is one compare-and-swap statement.
 */
export function createPostgresJournal(database: Database): Journal {
  const journal = forJournal(database)
  const { run, hash } = journal
  return {
    ...claiming(journal),
    ...recording(journal),
    async readNote(name) {
      return (await run(NoteRow, noteSql, [await hash(name)]))[0]?.value
    },
    async writeNote(name, value) {
      const sql = `INSERT INTO voice_agent_mcp.notes VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`
      await run(NoRow, sql, [await hash(name), value])
    },
  }
}

export const noteSql = 'SELECT value FROM voice_agent_mcp.notes WHERE name = $1'
export const NoteRow = z.object({ value: z.string() })

/** Wraps a database so that it throws JournalError for every StateError. */
const forJournal = (database: Database): Database => ({
  ...database,
  run: (...statement) => usingJournal(database.run(...statement)),
  transaction: (...work) => usingJournal(database.transaction(...work)),
  hash: (text) => usingJournal(database.hash(text)),
})

type Claiming = Pick<Journal, 'claim' | 'find' | 'current' | 'beginSending' | 'placedAgoMs'>

const claiming = (database: Database): Claiming => {
  const { clock } = database
  // A claim that commits too late is released: its caller no longer waits, and does not send.
  const { release } = recording(database)
  const purge = oncePer(3_600_000, () => {
    const { since, boot, uptime } = timestampIn(-keptForMs)
    return database.run(NoRow, purgeSql, [keptForMs, since, boot, uptime])
  })
  return {
    async claim(identity) {
      const own = await hashed(identity, database)
      purge().catch(ignore)
      return database.transaction(
        `calls of ${own.owner}`,
        (run) => claimRow(run, clock, own),
        async (late) => late.kind === 'mine' && release(late.entry),
      )
    },
    async find(identity) {
      const own = await hashed(identity, database)
      return foundEntry(await rowFor(database.run, clock, own), own)
    },
    async current(entry) {
      const [row] = await database.run(PostgresRow, byIdSql, [entry.owner, entry.externalId])
      if (!row) return undefined
      clock.saw(row.now)
      const current = currentEntry(row, elapsedSince(row, clock))
      if (current) return current
      return renewedEntry(
        (await restamp(database.run, entryOf(row), longestSendMs)) ?? entryOf(row),
      )
    },
    beginSending: (entry, forMs) =>
      restamp(database.run, entry, forMs, async ([late]) => late && release(entryOf(late))),
    async placedAgoMs(owner, callId) {
      const [row] = await database.run(PostgresRow, byCallSql, [await database.hash(owner), callId])
      return row && (elapsedSince(row, clock) ?? 'unknown')
    },
  }
}

/** A row of the journal with the database's time of the read. */
const PostgresRow = JournalRow.extend({
  /** `since`, by the clock of the server that wrote the row. */
  replica_since: z.coerce.number(),
  now: z.coerce.number(),
})
type PostgresRow = z.output<typeof PostgresRow>

const rowColumns = `owner, external_id, content, state, since, replica_since, uptime, boot, sent, sent_uptime, sent_boot, call_id, ${databaseNow} AS now`

const select = `SELECT ${rowColumns} FROM voice_agent_mcp.calls`
const byIdSql = `${select} WHERE owner = $1 AND external_id = $2`
const byCallSql = `${select} WHERE owner = $1 AND call_id = $2`
// The rules are those of sqlite-call-journal.ts. A row whose outcome is unknown matches at any age.
// Other rows match while they are recent by any clock: the database's, the servers', the uptime of
// the writing machine, or the database's clock before it was set ($7, $8). A free row is returned
// only if no other row matches.
const byContentSql = `${select} WHERE owner = $1 AND content = $2 AND minted
  AND (state = 'sending' OR since > ${databaseNow} - $3::bigint OR replica_since > $4::bigint
    OR (boot = $5 AND uptime > $6::bigint)
    OR (since > $7::bigint - $3::bigint AND since <= $8::bigint))
  ORDER BY state = 'free', since DESC LIMIT 1`
const purgeSql = `DELETE FROM voice_agent_mcp.calls
  WHERE since < ${databaseNow} - $1::bigint AND replica_since < $2::bigint
    AND NOT (boot = $3 AND uptime > $4::bigint)`

/** Finds the row with an identity. `lock` prevents concurrent changes of the row. */
async function rowFor(
  run: RunSql,
  clock: WatchedClock,
  { owner, content, externalId, sameForMs }: CallIdentity,
  lock: '' | ' FOR UPDATE' = '',
): Promise<PostgresRow | undefined> {
  const after = timestampIn(-sameForMs)
  const unset = clock.unset()
  const [row] =
    externalId === undefined
      ? await run(PostgresRow, byContentSql + lock, [
          ...[owner, content, sameForMs, after.since, after.boot, after.uptime],
          ...[unset?.now ?? null, unset?.until ?? null],
        ])
      : await run(PostgresRow, byIdSql + lock, [owner, externalId])
  if (row) clock.saw(row.now)
  return row
}

/**
 * Time since a row got into its state, ms; negative before its deadline; `undefined` if a clock was
 * set, or may have been. The clocks of the database and of the servers must agree, because either
 * may be set. For a row of this machine, the uptime must agree too, because both clocks may be set.
 * For a row of another machine, this process must have watched the database's clock since the row
 * was written, and seen no step; the largest step that can go unnoticed is subtracted.
 */
function elapsedSince(row: PostgresRow, clock: WatchedClock): number | undefined {
  const { since, replica_since, uptime, boot, now } = row
  const here = timestampIn()
  if (boot !== here.boot && !clock.ranEvenlySince(since)) return undefined
  const isOurs = boot === here.boot
  const byClocks = [now - since, here.since - replica_since]
  const all = isOurs ? [...byClocks, here.uptime - uptime] : byClocks
  const min = Math.min(...all)
  // Senders set no deadline further in the future, so both clocks were set back if this is false.
  const isPossible = min > -longestSendMs - maxClockDifferenceMs
  const isEven = isPossible && Math.max(...all) - min < maxClockDifferenceMs
  return isEven ? min - (isOurs ? 0 : minStepMs) : undefined
}

async function claimRow(run: RunSql, clock: WatchedClock, identity: CallIdentity): Promise<Claim> {
  const { owner, content } = identity
  const row = await rowFor(run, clock, identity, ' FOR UPDATE')
  const step = claimStep(row, identity)
  if ('entry' in step) return step
  const { externalId } = step
  const isMinted = identity.externalId === undefined
  const at = instant()
  const [claimed] = row
    ? await run(PostgresRow, reuseSql, [owner, externalId, content, ...at])
    : await run(PostgresRow, insertSql, [owner, externalId, content, isMinted, ...at])
  if (!claimed) throw new Error('a row that was just written is not there')
  clock.saw(claimed.now)
  return { kind: 'mine', entry: entryOf(claimed) }
}

/** An instant by this server's clocks, in the form that rows store. */
function instant(ms = 0): readonly [replicaSince: number, uptime: number, boot: string] {
  const { since, uptime, boot } = timestampIn(ms)
  return [since, uptime, boot]
}

/** The next stamp of a row at the time `at`: see `longestStampAheadMs`. */
const laterThanSince = `CASE WHEN since - at > ${longestStampAheadMs} THEN at
  ELSE GREATEST(at, since + 1) END`

const insertSql = `
  INSERT INTO voice_agent_mcp.calls
    (owner, external_id, content, minted, state, since, replica_since, uptime, boot,
      sent, sent_uptime, sent_boot)
  VALUES ($1, $2, $3, $4, 'sending', ${databaseNow}, $5, $6, $7,
    LEAST(${databaseNow}, $5::bigint), $6, $7) RETURNING ${rowColumns}`
const reuseSql = `
  WITH clock AS MATERIALIZED (SELECT ${databaseNow} AS at)
  UPDATE voice_agent_mcp.calls SET state = 'sending', content = $3,
    since = ${laterThanSince}, replica_since = $4, uptime = $5, boot = $6,
    sent = LEAST(at, $4::bigint), sent_uptime = $5, sent_boot = $6
  FROM clock WHERE owner = $1 AND external_id = $2 RETURNING ${rowColumns}`

/**
 * Sets a new stamp; `undefined` if the stamp has changed, so that another caller holds the entry.
 */
async function restamp(
  run: Database['run'],
  { owner, externalId, stamp }: JournalEntry,
  forMs: number,
  undo?: (late: PostgresRow[]) => Promise<unknown>,
): Promise<JournalEntry | undefined> {
  const waitMs = Math.ceil(forMs)
  const values = [owner, externalId, stamp, waitMs, ...instant(waitMs)]
  const [row] = await run(PostgresRow, restampSql, values, undo)
  return row && entryOf(row)
}

const restampSql = `
  WITH clock AS MATERIALIZED (SELECT ${databaseNow} + $4::bigint AS at)
  UPDATE voice_agent_mcp.calls SET since = ${laterThanSince}, replica_since = $5, uptime = $6, boot = $7
  FROM clock WHERE owner = $1 AND external_id = $2 AND state = 'sending' AND since = $3
  RETURNING ${rowColumns}`

type Recording = Pick<Journal, 'endSending' | 'recordPlaced' | 'recordNotAccepted' | 'release'>

const recording = ({ run }: Database): Recording => {
  const settle = (state: 'placed' | 'not_taken') => async (entry: JournalEntry, callId: string) => {
    const { owner, externalId } = entry
    await run(NoRow, settleSql, [owner, externalId, state, callId, ...instant()])
  }
  return {
    recordPlaced: settle('placed'),
    recordNotAccepted: settle('not_taken'),
    async endSending({ owner, externalId, stamp }) {
      await run(NoRow, endSendingSql, [owner, externalId, stamp, ...instant()])
    },
    async release({ owner, externalId, stamp }) {
      const release = () => run(NoRow, releaseSql, [owner, externalId, stamp])
      await release().catch((error: unknown) => {
        void withoutStateDeadline(() => again(release))
        throw error
      })
    },
  }
}

/**
 * Retries for two minutes. A late release does no harm. Without a release, a call that was never
 * sent would have an unknown outcome.
 */
async function again(work: () => Promise<unknown>): Promise<void> {
  for (let nth = 0; nth < 24; nth++) {
    await sleep(5000, undefined, { ref: false })
    const isDone = await work().then(
      () => true,
      () => false,
    )
    if (isDone) return
  }
}

const settleSql = `
  UPDATE voice_agent_mcp.calls
  SET state = $3, call_id = $4, since = ${databaseNow}, replica_since = $5, uptime = $6, boot = $7
  WHERE owner = $1 AND external_id = $2 AND state NOT IN ('placed', 'not_taken')`
const endSendingSql = `
  UPDATE voice_agent_mcp.calls
  SET since = ${databaseNow}, replica_since = $4, uptime = $5, boot = $6
  WHERE owner = $1 AND external_id = $2 AND state = 'sending' AND since = $3
    AND ${databaseNow} < since`
const releaseSql = `
  UPDATE voice_agent_mcp.calls SET state = 'free'
  WHERE owner = $1 AND external_id = $2 AND state = 'sending' AND since = $3`

/** An identity in its stored form. */
async function hashed(
  identity: CallIdentity,
  { hash }: Pick<Database, 'hash'>,
): Promise<CallIdentity> {
  const [owner, content] = await Promise.all([hash(identity.owner), hash(identity.content)])
  return { ...identity, owner, content }
}

const ignore = () => undefined
