import type { SQLInputValue } from 'node:sqlite'
import * as z from 'zod'
import { defaultPageLimit } from '../contract/field.ts'
import type { SqlParams, Store } from './store.ts'

/** An ISO 8601 time as Unix ms. */
export const instant = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text)

const Total = z.object({ total: z.int() })
const Tables = z.object({ version: z.int() })
const Grown = z.object({ total: z.int(), last: z.int().nullable() })

/** A row count and the last row counted. */
interface Counted {
  readonly total: number
  readonly last: number
  /** Version of the tables; it changes when another process resets the file. */
  readonly version: number
}

/** Earlier counts of append-only tables, by name of the count. */
const counted = new WeakMap<Store, Map<string, Counted>>()

/** One page of a table, newest first, and the total number of matching rows. */
export function pageOfRows<T, U>(
  store: Store,
  row: z.ZodType<T>,
  view: (row: T) => U,
  query: {
    table: string
    /**
     * Values by SQL condition, such as `id = ?`. A condition whose value is `undefined` is omitted.
     */
    where: Readonly<Record<string, SQLInputValue | undefined>>
    /** Further parameters of the conditions. */
    params?: SqlParams
    page: { limit?: number | undefined; offset?: number | undefined }
    /**
     * Name of an incremental count, to which each page adds only the new rows: a thousand times as
     * fast as counting a million rows anew. Only for queries whose rows match from their insertion
     * on and are never removed.
     */
    countedAs?: string | undefined
  },
): { count: number; items: U[] } {
  const given = Object.entries(query.where).flatMap(([condition, value], at) =>
    value === undefined ? [] : [{ condition, name: `where${at}`, value }],
  )
  const where = given.map(({ condition, name }) => condition.replace('?', `:${name}`)).join(' AND ')
  const values = Object.fromEntries(given.map(({ name, value }) => [name, value]))
  const params = { ...query.params, ...values }
  const named = ` FROM ${query.table} WHERE ${where}`
  const rows = store.all(
    row,
    `SELECT *${named} ORDER BY created DESC, rowid DESC LIMIT :limit OFFSET :offset`,
    { ...params, limit: query.page.limit ?? defaultPageLimit, offset: query.page.offset ?? 0 },
  )
  return {
    count:
      query.countedAs === undefined
        ? (store.get(Total, `SELECT count(*) AS total${named}`, params)?.total ?? 0)
        : countOn(store, { table: query.table, where, params, countedAs: query.countedAs }),
    items: rows.map(view),
  }
}

/** Adds the rows since an earlier count to that count. */
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
  // The first count reads all rows of the account by an index; later counts, only the rows after
  // the last counted one, by rowid.
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
