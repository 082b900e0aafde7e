import * as z from 'zod'
import type { NewRecord, RecordBounds, Records } from '../records.ts'
import { type Database, databaseNow, NoRow } from './database.ts'

const AnswerRow = z.object({ answer: z.enum(['added', 'exists', 'full']) })
const ValueRow = z.object({ value: z.string() })
const IdRow = z.object({ id: z.string() })

/** Without bounds, more than there will ever be. */
const unbounded = { inAll: 2 ** 31 - 1, perOwner: 2 ** 31 - 1 }

/** How often records whose time is over are deleted, ms. */
const purgeEveryMs = 60_000

/** Records in PostgreSQL, kept by the database's clock. */
export function createPostgresRecords({ run, seal }: Database): Records {
  let purged = 0
  const purge = async () => {
    if (performance.now() - purged < purgeEveryMs) return
    purged = performance.now()
    await run(NoRow, purgeSql)
  }
  /** What addSql and putSql are given. */
  const valuesOf = async (record: NewRecord, { inAll, perOwner }: RecordBounds) => {
    await purge()
    const { kind, id, owner, value, forMs } = record
    return [kind, await seal(id), await seal(owner), value, Math.ceil(forMs), inAll, perOwner]
  }
  return {
    async add(record, bounds = unbounded) {
      const [row] = await run(AnswerRow, addSql, await valuesOf(record, bounds))
      if (!row) throw new Error('a statement that always answers gave no row')
      return row.answer
    },
    async put(record, bounds = unbounded) {
      const kept = await run(IdRow, putSql, await valuesOf(record, bounds))
      return kept.length > 0 ? 'kept' : 'full'
    },
    async get({ kind, id }) {
      return (await run(ValueRow, getSql, [kind, await seal(id)]))[0]?.value
    },
    async remove({ kind, id }) {
      return (await run(IdRow, removeSql, [kind, await seal(id)])).length > 0
    },
  }
}

const table = 'voice_agent_mcp.records'
const isThere = `expires > ${databaseNow}`
const purgeSql = `DELETE FROM ${table} WHERE expires <= ${databaseNow}`
const getSql = `SELECT value FROM ${table} WHERE kind = $1 AND id = $2 AND ${isThere}`
const removeSql = `DELETE FROM ${table} WHERE kind = $1 AND id = $2 AND ${isThere} RETURNING id`

/** Whether the record of the values $1 to $7 is there, and whether there is room for another. */
const thereAndRoom = `
  WITH there AS (SELECT 1 FROM ${table} WHERE kind = $1 AND id = $2 AND ${isThere}),
  room AS (
    SELECT (SELECT count(*) FROM ${table} WHERE kind = $1 AND ${isThere}) < $6::integer
      AND (SELECT count(*) FROM ${table} WHERE kind = $1 AND owner = $3 AND ${isThere}) < $7::integer
      AS is_left
  )`

// Of two that add the same id at the same moment, the second waits for the first and adds nothing.
const addSql = `${thereAndRoom},
  added AS (
    INSERT INTO ${table} AS kept
    SELECT $1, $2, $3, $4, ${databaseNow} + $5::bigint
    FROM room WHERE is_left AND NOT EXISTS (SELECT FROM there)
    ON CONFLICT (kind, id) DO UPDATE
      SET owner = EXCLUDED.owner, value = EXCLUDED.value, expires = EXCLUDED.expires
      WHERE kept.expires <= ${databaseNow}
    RETURNING id
  )
  SELECT CASE
    WHEN EXISTS (SELECT FROM added) THEN 'added'
    WHEN EXISTS (SELECT FROM there) THEN 'exists'
    WHEN (SELECT is_left FROM room) THEN 'exists'
    ELSE 'full' END AS answer`

const putSql = `${thereAndRoom}
  INSERT INTO ${table} AS kept
  SELECT $1, $2, $3, $4, ${databaseNow} + $5::bigint
  FROM room WHERE is_left OR EXISTS (SELECT FROM there)
  ON CONFLICT (kind, id) DO UPDATE
    SET owner = EXCLUDED.owner, value = EXCLUDED.value, expires = EXCLUDED.expires
  RETURNING id`
