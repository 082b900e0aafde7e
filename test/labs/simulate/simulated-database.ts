import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { WatchedClock } from '../../../src/state/clocks.ts'
import { type Database, databaseNow } from '../../../src/state/postgres/database.ts'
import type { VirtualTime } from './virtual-time.ts'

const tables = `
  ATTACH ':memory:' AS voice_agent_mcp;
  CREATE TABLE voice_agent_mcp.calls (
    owner TEXT, external_id TEXT, content TEXT, minted INTEGER, state TEXT, since INTEGER,
    replica_since INTEGER, uptime INTEGER, boot TEXT, call_id TEXT,
    sent INTEGER, sent_uptime INTEGER, sent_boot TEXT, PRIMARY KEY (owner, external_id)
  );
  CREATE TABLE voice_agent_mcp.notes (name TEXT PRIMARY KEY, value TEXT)`

const Row = z.record(z.string(), z.unknown())
type Value = string | number | null

const bound = (value: unknown): Value =>
  typeof value === 'boolean'
    ? Number(value)
    : z.union([z.string(), z.number(), z.null()]).parse(value)

/**
 * A database that servers on several machines share. The statements of the journal in PostgreSQL run on
 * SQLite in memory, one operation after the other; its clock is that of the history.
 */
export class SimulatedDatabase {
  readonly #db = new DatabaseSync(':memory:')
  readonly #time: VirtualTime
  #last: Promise<unknown> = Promise.resolve()

  constructor(time: VirtualTime) {
    this.#time = time
    this.#db.function('clock_ms', () => time.timeOfDay)
    this.#db.function('GREATEST', { varargs: true }, (...values) => Math.max(...values.map(Number)))
    this.#db.function('LEAST', { varargs: true }, (...values) => Math.min(...values.map(Number)))
    this.#db.exec(tables)
  }

  /** As one server that starts now has it. */
  connect(): Database {
    const clock = new WatchedClock()
    clock.saw(this.#time.timeOfDay)
    return {
      clock,
      run: (row, sql, values) => this.#next(async () => this.#rows(row, sql, values)),
      transaction: (_, work) =>
        this.#next(() => work(async (row, sql, values) => this.#rows(row, sql, values))),
      seal: async (text) => text,
      check: async () => undefined,
      close: async () => undefined,
    }
  }

  close(): void {
    this.#db.close()
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => undefined)
    return next
  }

  #rows<T>(row: z.ZodType<T>, sql: string, values: readonly unknown[] = []): T[] {
    const statement = sql
      .replaceAll(databaseNow, 'clock_ms()')
      .replaceAll('::bigint', '')
      .replace(' FOR UPDATE', '')
    const named = Object.fromEntries(values.map((value, at) => [`$${at + 1}`, bound(value)]))
    return this.#db
      .prepare(statement)
      .all(named)
      .map((found) => row.parse(Row.parse({ ...found })))
  }
}
