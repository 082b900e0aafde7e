import * as z from 'zod'
import { defaultPageLimit } from '../contract/page.ts'
import type { SqlParams, Store } from './store.ts'

const Total = z.object({ total: z.int() })

/** One page of a table, newest first, with the number of all rows that match. */
export function pageOfRows<T, U>(
  store: Store,
  row: z.ZodType<T>,
  query: {
    table: string
    /** Conditions that must all hold; `false` ones are left out. */
    where: (string | false)[]
    params: SqlParams
    page: { limit?: number | undefined; offset?: number | undefined }
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
    count: store.get(Total, `SELECT count(*) AS total${named}`, query.params)?.total ?? 0,
    items: rows.map(view),
  }
}
