import { StoredUndoItem, type UndoBounds, type UndoStore } from '../undo-log.ts'
import { type Database, databaseNow, NoRow, oncePer } from './database.ts'

/**
 * Earlier values in PostgreSQL. Their age counts by the database's clock. `purgeEveryMs`: interval
 * at which a server deletes items that are too old, and the oldest ones beyond the total bound. A
 * purge reads as many items as the bound allows.
 */
export function createPostgresUndoStore(
  { run, hash }: Pick<Database, 'run' | 'hash'>,
  { purgeEveryMs = 60_000 } = {},
): UndoStore {
  const purge = oncePer(purgeEveryMs, ({ maxAgeMs, inAll }: UndoBounds) =>
    run(NoRow, purgeSql, [maxAgeMs, inAll]),
  )
  return {
    async add({ owner, change }, items, bounds) {
      await purge(bounds)
      await run(NoRow, addSql, [
        await hash(owner),
        await hash(change),
        items.map(({ item }) => item),
        await Promise.all(items.map(({ object }) => hash(object))),
        items.map(({ value }) => value),
        bounds.perOwner,
      ])
    },
    async settle({ owner, change }, items) {
      await run(NoRow, settleSql, [
        await hash(owner),
        await hash(change),
        items.map(({ item }) => item),
        items.map(({ value }) => value),
      ])
    },
    ofChange: async ({ owner, change }, { maxAgeMs }) =>
      run(StoredUndoItem, ofChangeSql, [await hash(owner), await hash(change), maxAgeMs]),
    ofObject: async ({ owner, object }, max, { maxAgeMs }) =>
      run(StoredUndoItem, ofObjectSql, [await hash(owner), await hash(object), maxAgeMs, max]),
  }
}

const table = 'voice_agent_mcp.undo_items'

/** Skips rows that another server is deleting, because waiting could deadlock. */
const deleted = (where: string) => `
  DELETE FROM ${table} WHERE seq IN (
    SELECT seq FROM ${table} WHERE ${where} FOR UPDATE SKIP LOCKED
  )`

const purgeSql = deleted(`
  at <= ${databaseNow} - $1::bigint OR seq <= (
    SELECT seq FROM ${table} ORDER BY seq DESC LIMIT 1 OFFSET $2::integer
  )`)

// The statement does not see its own insert, so an owner may briefly have a few more items than
// allowed.
const addSql = `
  WITH bound AS (${deleted(`
    owner = $1 AND seq <= (
      SELECT seq FROM ${table} WHERE owner = $1 ORDER BY seq DESC LIMIT 1 OFFSET $6::integer
    )`)})
  INSERT INTO ${table} (owner, change, item, object, at, value)
  SELECT $1, $2, item, object, ${databaseNow}, value
  FROM unnest($3::integer[], $4::text[], $5::text[]) AS given (item, object, value)`

const settleSql = `
  UPDATE ${table} AS kept SET value = given.value
  FROM unnest($3::integer[], $4::text[]) AS given (item, value)
  WHERE owner = $1 AND change = $2 AND kept.item = given.item`

const ofChangeSql = `
  SELECT item, at, value FROM ${table}
  WHERE owner = $1 AND change = $2 AND at > ${databaseNow} - $3::bigint ORDER BY item`

const ofObjectSql = `
  SELECT item, at, value FROM ${table}
  WHERE owner = $1 AND object = $2 AND at > ${databaseNow} - $3::bigint
  ORDER BY seq DESC LIMIT $4::integer`
