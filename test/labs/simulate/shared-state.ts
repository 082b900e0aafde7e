import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { CallCounter } from '../../../src/state/call-counter.ts'
import { type Journal, JournalError } from '../../../src/state/call-journal.ts'
import { WatchedClock } from '../../../src/state/clocks.ts'
import { type Database, databaseNow } from '../../../src/state/postgres/database.ts'
import { createPostgresJournal } from '../../../src/state/postgres/postgres-call-journal.ts'
import type { Records } from '../../../src/state/records.ts'
import { createSqliteCallCounter } from '../../../src/state/sqlite/sqlite-call-counter.ts'
import {
  createSqliteJournal,
  type SqliteJournal,
} from '../../../src/state/sqlite/sqlite-call-journal.ts'
import { createSqliteRecords } from '../../../src/state/sqlite/sqlite-records.ts'
import type { InFile } from '../../../src/state/sqlite/state-file.ts'
import { StateError } from '../../../src/state/state-access.ts'
import { inSteps, type Steps } from './fault-injection.ts'
import type { Plan } from './plan.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A call that was counted for the limits. */
export interface Reserved {
  readonly id: string
  /** True time, ms since the history began. */
  readonly at: number
  /** Time of day by the machine's clock, on which the limits are based, ms since 1970. */
  readonly timeOfDay: number
}

/**
 * State that the simulated servers share, in SQLite databases in memory. Also records how the
 * servers use it.
 */
export class SharedState {
  /** The shared journal in files; with a database each server opens its own. */
  readonly #journal: SqliteJournal
  readonly #database: SimulatedDatabase
  readonly #counter: CallCounter & InFile
  readonly #records: Records & InFile
  readonly #time: VirtualTime
  readonly reserved: Reserved[] = []
  /** Uses of each confirmation token that were not given back, by nonce. */
  readonly #tokenUses = new Map<string, number>()
  /** Nonces of confirmation tokens that were used twice without being given back between. */
  readonly usedTwice: string[] = []

  private constructor(time: VirtualTime) {
    this.#journal = createSqliteJournal(':memory:', 'the simulation')
    this.#database = new SimulatedDatabase(time)
    this.#time = time
    this.#counter = createSqliteCallCounter(':memory:', 'the simulation')
    this.#records = createSqliteRecords(':memory:', 'the simulation')
  }

  static async open(time: VirtualTime): Promise<SharedState> {
    const state = new SharedState(time)
    // Opens the databases before virtual time begins: it waits only for timers, and opening uses
    // none.
    await state.#journal.check()
    await state.#counter.check({})
    await state.#records.get({ kind: 'used_token', id: '' })
    return state
  }

  /** True if at least one call counts as running. */
  async isCallCounted(): Promise<boolean> {
    return (await this.#counter.check({ max_at_once: 1 })) !== undefined
  }

  /** The journal as a new server opens it. */
  journalFor(shared: Plan['shared'], steps: Steps): Journal {
    const journal =
      shared === 'files' ? this.#journal : createPostgresJournal(this.#database.connect())
    return inSteps(journal, steps, JournalError)
  }

  counterFor(steps: Steps): CallCounter {
    const counter: CallCounter = {
      ...this.#counter,
      reserve: async (limits, leaseMs, call) => {
        const reservation = await this.#counter.reserve(limits, leaseMs, call)
        const { now: at, timeOfDay } = this.#time
        if ('id' in reservation) this.reserved.push({ id: reservation.id, at, timeOfDay })
        return reservation
      },
    }
    return inSteps(counter, steps, StateError)
  }

  recordsFor(steps: Steps): Records {
    const records: Records = {
      ...this.#records,
      remove: async (key) => {
        const removed = await this.#records.remove(key)
        if (removed) this.#tokenUses.set(key.id, Math.max(0, this.#usesOf(key.id) - 1))
        return removed
      },
    }
    return inSteps(records, steps, StateError)
  }

  /** Records that a token was accepted ('used now'), so a request may act on it. `id`: its nonce. */
  tokenUsed(id: string): void {
    if (this.#usesOf(id) > 0) this.usedTwice.push(id)
    this.#tokenUses.set(id, this.#usesOf(id) + 1)
  }

  #usesOf(id: string): number {
    return this.#tokenUses.get(id) ?? 0
  }

  async close(): Promise<void> {
    await this.#journal.close()
    this.#database.close()
    await this.#counter.close()
    await this.#records.close()
  }
}

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
 * A PostgreSQL database that servers on several machines share. The journal's statements run on
 * SQLite in memory, one operation after the other, with the clock of the history.
 */
class SimulatedDatabase {
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

  /** A connection for a new server. */
  connect(): Database {
    const clock = new WatchedClock()
    clock.saw(this.#time.timeOfDay)
    return {
      clock,
      run: (row, sql, values) => this.#next(async () => this.#rows(row, sql, values)),
      transaction: (_, work) =>
        this.#next(() => work(async (row, sql, values) => this.#rows(row, sql, values))),
      hash: async (text) => text,
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
