import * as z from 'zod'
import type { NewRecord, RecordBounds, Records } from '../records.ts'
import { type Database, databaseNow, NoRow, oncePer } from './database.ts'

const AnswerRow = z.object({ answer: z.enum(['added', 'exists', 'full']) })
const ValueRow = z.object({ value: z.string() })
const IdRow = z.object({ id: z.string() })

/** Stands for "no bound": the maximum of an SQL integer. */
const unbounded = 2 ** 31 - 1

/** Interval of purges, ms. */
const purgeEveryMs = 60_000

/** Records in PostgreSQL. They expire by the database's clock. */
export function createPostgresRecords({ run, hash }: Database): Records {
  const purge = async () => {
    await run(NoRow, purgeSql)
    await run(NoRow, purgeCountsSql)
  }
  const purgeSometimes = oncePer(purgeEveryMs, purge)
  /** Writes a record. If expired records use up the capacity, purges them and writes again. */
  const write = async <Answer>(
    given: NewRecord & Partial<RecordBounds>,
    statement: (values: readonly unknown[]) => Promise<Answer | 'full'>,
  ): Promise<Answer | 'full'> => {
    const { kind, id, owner, value, forMs, inAll = unbounded, perOwner = unbounded } = given
    const ids = [kind, await hash(id), await hash(owner)]
    const values = [...ids, value, Math.ceil(forMs), inAll, perOwner]
    await purgeSometimes()
    const answer = await statement(values)
    if (answer !== 'full') return answer
    await purge()
    return statement(values)
  }
  return {
    add: (record, bounds) =>
      write({ ...record, ...bounds }, async (values) => {
        const [row] = await run(AnswerRow, addSql, values)
        if (!row) throw new Error('a statement that always answers gave no row')
        return row.answer
      }),
    put: (record, bounds) =>
      write({ ...record, ...bounds }, async (values) =>
        (await run(IdRow, putSql, values)).length > 0 ? 'kept' : 'full',
      ),
    async replace({ kind, id, value, forMs }, from) {
      const values = [kind, await hash(id), value, Math.ceil(forMs), from]
      return (await run(IdRow, replaceSql, values)).length > 0
    },
    async get({ kind, id }) {
      return (await run(ValueRow, getSql, [kind, await hash(id)]))[0]?.value
    },
    async remove({ kind, id }) {
      return (await run(IdRow, removeSql, [kind, await hash(id)])).length > 0
    },
  }
}

const table = 'voice_agent_mcp.records'
const counts = 'voice_agent_mcp.record_counts'
const isThere = `expires > ${databaseNow}`
const purgeSql = `DELETE FROM ${table} WHERE expires <= ${databaseNow}`
/**
 * Skips rows that another server is changing, because waiting could deadlock. The next run deletes
 * them.
 */
const purgeCountsSql = `
  DELETE FROM ${counts} WHERE (kind, owner) IN (
    SELECT kind, owner FROM ${counts} WHERE count = 0 AND owner <> '' FOR UPDATE SKIP LOCKED
  )`
const getSql = `SELECT value FROM ${table} WHERE kind = $1 AND id = $2 AND ${isThere}`
const removeSql = `DELETE FROM ${table} WHERE kind = $1 AND id = $2 AND ${isThere} RETURNING id`

/**
 * Common table expressions for the values $1 to $7: `there` has a row if the record exists;
 * `room.is_left` is true if the bounds allow another record.
 */
const recordAndCapacity = `
  WITH there AS (SELECT 1 FROM ${table} WHERE kind = $1 AND id = $2 AND ${isThere}),
  room AS (
    SELECT coalesce(max(count) FILTER (WHERE owner = ''), 0) < $6::integer
      AND coalesce(max(count) FILTER (WHERE owner = $3), 0) < $7::integer AS is_left
    FROM ${counts} WHERE kind = $1 AND owner IN ('', $3)
  )`

// If one id is added twice concurrently, the second statement waits for the first and adds nothing.
const addSql = `${recordAndCapacity},
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

const replaceSql = `
  UPDATE ${table} SET value = $3, expires = ${databaseNow} + $4::bigint
  WHERE kind = $1 AND id = $2 AND value = $5 AND ${isThere} RETURNING id`

const putSql = `${recordAndCapacity}
  INSERT INTO ${table} AS kept
  SELECT $1, $2, $3, $4, ${databaseNow} + $5::bigint
  FROM room WHERE is_left OR EXISTS (SELECT FROM there)
  ON CONFLICT (kind, id) DO UPDATE
    SET owner = EXCLUDED.owner, value = EXCLUDED.value, expires = EXCLUDED.expires
  RETURNING id`
