import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import {
  type CallCounter,
  type CallLimits,
  type ExceededLimit,
  exceededLimit,
  longestWindow,
  OpenCall,
  type Reservation,
} from '../call-counter.ts'
import { type Database, databaseNow, NoRow, type RunSql } from './database.ts'

interface PostgresCounterOptions {
  /** Name of a group of counted calls. Keeps simulated calls apart from real ones. */
  readonly countedAs: string
  /** SQL expression for the time. Tests replace the database's clock with it. */
  readonly now?: string
}

/**
 * A call counter in PostgreSQL. Reservations of all servers run one after the other, by the
 * database's clock.
 */
export function createPostgresCallCounter(
  database: Database,
  { countedAs, now = databaseNow }: PostgresCounterOptions,
): CallCounter {
  const { run, hash } = database
  return {
    check: async (limits) => (await countedNow(run, limits, { countedAs, now })).exceeded,
    reserve: (limits, leaseMs, call) =>
      database.transaction(
        `count of ${countedAs}`,
        async (run): Promise<Reservation> => {
          const { at, exceeded } = await countedNow(run, limits, { countedAs, now })
          if (exceeded) return { exceeded }
          await run(NoRow, outdatedSql, [countedAs, at - longestWindow, at])
          const id = randomUUID()
          const { owner = null, externalId = null } = call ?? {}
          const leaseEnd = at + Math.ceil(leaseMs)
          await run(NoRow, insertSql, [id, countedAs, at, leaseEnd, owner, externalId])
          return { id }
        },
        // If the reservation commits too late, it is deleted, because its call is not sent.
        async (late) => 'id' in late && run(NoRow, notPlacedSql, [late.id]),
      ),
    async pending({ owner, externalId }) {
      const rows = await run(IdRow, pendingSql, [countedAs, owner, externalId])
      return rows.map(({ id }) => id)
    },
    async notPlaced(id) {
      await run(NoRow, notPlacedSql, [id])
    },
    async placed(id, { owner, callId }) {
      const sql = `UPDATE ${table} SET owner = $2, call_id = $3 WHERE id = $1`
      await run(NoRow, sql, [id, await hash(owner), callId])
    },
    async open(owner, withinMs) {
      const sql = `SELECT id, call_id AS "callId" FROM ${table}
        WHERE counted_as = $1 AND owner = $2 AND at > ${now} - $3::bigint AND lease_end > 0 ORDER BY at`
      return run(OpenCall, sql, [countedAs, await hash(owner), withinMs])
    },
    async renew(id, leaseMs) {
      const sql = `UPDATE ${table} SET lease_end = ${now} + $2::bigint WHERE id = $1 AND lease_end > 0`
      await run(NoRow, sql, [id, Math.ceil(leaseMs)])
    },
    async ended(id) {
      await run(NoRow, `UPDATE ${table} SET lease_end = 0 WHERE id = $1`, [id])
    },
  }
}

const table = 'voice_agent_mcp.counted_calls'
const outdatedSql = `DELETE FROM ${table} WHERE counted_as = $1 AND at <= $2 AND lease_end <= $3`
const insertSql = `
  INSERT INTO ${table} (id, counted_as, at, lease_end, reserved_owner, external_id)
  VALUES ($1, $2, $3, $4, $5, $6)`
const notPlacedSql = `DELETE FROM ${table} WHERE id = $1`
const IdRow = z.object({ id: z.string() })
const pendingSql = `
  SELECT id FROM ${table} WHERE counted_as = $1 AND reserved_owner = $2 AND external_id = $3
    AND lease_end > 0 AND call_id IS NULL`

const CountRow = z.object({
  now: z.coerce.number(),
  under_way: z.coerce.number(),
  /** For each window: reservation time of the nth newest call, where n is the limit. */
  minute: z.coerce.number().nullable(),
  hour: z.coerce.number().nullable(),
  day: z.coerce.number().nullable(),
})

/**
 * Reads all counts with one statement: the time, reservation times, and the number of running
 * calls.
 */
async function countedNow(
  run: RunSql,
  limits: CallLimits,
  { countedAs, now }: { countedAs: string; now: string },
): Promise<{ at: number; exceeded: ExceededLimit | undefined }> {
  const ranks = [limits.max_per_minute, limits.max_per_hour, limits.max_per_day]
  const nth = (rank: string) => `(SELECT at FROM ${table} WHERE counted_as = $1
    AND at > now - ${longestWindow} ORDER BY at DESC OFFSET ${rank}::bigint LIMIT 1)`
  const sql = `
    WITH clock AS MATERIALIZED (SELECT ${now} AS now)
    SELECT now, ${nth('$2')} AS minute, ${nth('$3')} AS hour, ${nth('$4')} AS day,
      (SELECT count(*) FROM ${table} WHERE counted_as = $1 AND lease_end > now) AS under_way
    FROM clock`
  const skipped = ranks.map((rank) => Math.max((rank ?? 1) - 1, 0))
  const [counted] = await run(CountRow, sql, [countedAs, ...skipped])
  if (!counted) throw new Error('a statement without a condition gave no row')
  const { now: at, minute, hour, day, under_way } = counted
  const newest = [minute, hour, day]
  const nthNewest = (rank: number, since: number) => {
    const found = newest[ranks.indexOf(rank)] ?? undefined
    return found !== undefined && found > since ? found : undefined
  }
  return { at, exceeded: exceededLimit(limits, at, { nthNewest, underWay: () => under_way }) }
}
