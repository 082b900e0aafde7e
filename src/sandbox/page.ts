import * as z from 'zod'
import { defaultPageLimit } from '../contract/page.ts'
import type { SqlParams, Store } from './store.ts'

const Total = z.object({ total: z.int() })
const Tables = z.object({ version: z.int() })
const Grown = z.object({ total: z.int(), last: z.int().nullable() })

/** A number of rows, and the last row of the table that was counted. */
interface Counted {
  readonly total: number
  readonly last: number
  /** The version of the tables: another process that empties the file makes them anew. */
  readonly version: number
}

/** Earlier counts of tables that only grow, by account. */
const counted = new WeakMap<Store, Map<string, Counted>>()

/** One page of a table, newest first, with the number of all rows that match. */
export function pageOfRows<T, U>(
  store: Store,
  row: z.ZodType<T>,
  query: {
    table: string
    /** Conditions that must all be true; `false` is ignored. */
    where: (string | false)[]
    params: SqlParams
    page: { limit?: number | undefined; offset?: number | undefined }
    /**
     * Names a count that can be continued, because no row is removed or matches only later. To count
     * a million rows again for each page takes a thousand times as long.
     */
    countedAs?: string | undefined
  },
  view: (row: T) => U,
): { count: number; items: U[] } {
  const where = query.where.filter((condition) => condition !== false).join(' AND ')
  const named = ` FROM ${query.table} WHERE ${where}`
  const rows = store.all(
    row,
    `SELECT *${named} ORDER BY created DESC, rowid DESC LIMIT :limit OFFSET :offset`,
    {
      ...query.params,
      limit: query.page.limit ?? defaultPageLimit,
      offset: query.page.offset ?? 0,
    },
  )
  return {
    count:
      query.countedAs === undefined
        ? (store.get(Total, `SELECT count(*) AS total${named}`, query.params)?.total ?? 0)
        : countOn(store, { ...query, where, countedAs: query.countedAs }),
    items: rows.map(view),
  }
}

/** Adds the rows that are new since the last count. */
function countOn(
  store: Store,
  query: { table: string; where: string; params: SqlParams; countedAs: string },
): number {
  const { table, where, params, countedAs } = query
  const known = counted.get(store) ?? new Map<string, Counted>()
  counted.set(store, known)
  const tables = 'SELECT schema_version AS version FROM pragma_schema_version'
  const version = store.get(Tables, tables)?.version ?? 0
  const earlier = known.get(countedAs)
  const before = earlier?.version === version ? earlier : undefined
  // In the order of the table from the last counted row; by the account's index the first time.
  const rows = before
    ? `${table} NOT INDEXED WHERE rowid > :last AND ${where}`
    : `${table} WHERE ${where}`
  const grown = store.get(
    Grown,
    `SELECT count(*) AS total, (SELECT max(rowid) FROM ${table}) AS last FROM ${rows}`,
    { ...params, last: before?.last ?? 0 },
  )
  const total = (before?.total ?? 0) + (grown?.total ?? 0)
  known.set(countedAs, { total, last: grown?.last ?? 0, version })
  return total
}
