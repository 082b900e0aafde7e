import type { ClientBase } from 'pg'
import * as z from 'zod'
import type { Journal } from '../call-journal.ts'
import type { State } from '../state.ts'
import {
  type DatabaseOptions,
  databaseNow,
  hashWith,
  maxClockDifferenceMs,
  openDatabase,
  timeouts,
  unusable,
} from './database.ts'
import { createPostgresAuditTrail } from './postgres-audit-trail.ts'
import { createPostgresBroadcast } from './postgres-broadcast.ts'
import { createPostgresCallCounter } from './postgres-call-counter.ts'
import { createPostgresJournal, NoteRow, noteSql } from './postgres-call-journal.ts'
import { createPostgresRecords } from './postgres-records.ts'
import { createPostgresUndoStore } from './postgres-undo-store.ts'
import { applicationName, readInstallation } from './schema.ts'

interface PostgresStateOptions extends DatabaseOptions {
  /** True for the sandbox: its simulated calls do not count against the limits of real calls. */
  readonly isSandbox: boolean
}

/** The state in a PostgreSQL database, for servers on any machines. */
export function createPostgresState({ isSandbox, ...options }: PostgresStateOptions): State {
  const database = openDatabase(options)
  const broadcast = createPostgresBroadcast(options.url, database)
  return {
    journal: createPostgresJournal(database),
    callCounter: createPostgresCallCounter(database, {
      countedAs: isSandbox ? 'sandbox' : 'platform',
    }),
    records: createPostgresRecords(database),
    audit: createPostgresAuditTrail(database),
    undo: createPostgresUndoStore(database),
    broadcast,
    check: database.check,
    async close() {
      await broadcast.close()
      await database.close()
    },
  }
}

export interface InspectedDatabase {
  /** Version of PostgreSQL, such as `17.6`. */
  readonly server: string
  /** Schema version; `undefined` if there are no tables yet. */
  readonly version: number | undefined
  /** True if this program may create the missing tables. */
  readonly mayCreate: boolean
  /**
   * Time by which the database's clock is ahead of this machine's, ms; negative if it is behind.
   */
  readonly clockAheadMs: number
  /** True if the clocks are close enough. If not, a server refuses the database. */
  readonly isClockUsable: boolean
}

const Found = z.object({
  server: z.string(),
  has_tables: z.boolean(),
  may_create: z.boolean(),
  now: z.coerce.number(),
})

/** Connects and reads without changing anything. Throws StateError. */
const inspect = async <T>(
  { url, setting }: DatabaseOptions,
  look: (client: ClientBase) => Promise<T>,
): Promise<T> => {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: timeouts.connection,
    query_timeout: timeouts.statement,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await look(client)
  } catch (error) {
    throw unusable(error, setting)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Inspects the database without changing it. Throws StateError. */
export const inspectDatabase = (address: DatabaseOptions): Promise<InspectedDatabase> =>
  inspect(address, async (client) => {
    const { rows } = await client.query(`
      SELECT current_setting('server_version') AS server,
        ${hasTables} AS has_tables,
        has_database_privilege(current_database(), 'CREATE') AS may_create,
        ${databaseNow} AS now`)
    const { server, has_tables, may_create, now } = Found.parse(rows[0])
    const clockAheadMs = now - Date.now()
    const installation = has_tables ? await readInstallation(client) : undefined
    return {
      server,
      version: installation?.version,
      mayCreate: may_create,
      clockAheadMs,
      isClockUsable: Math.abs(clockAheadMs) < maxClockDifferenceMs,
    }
  })

/** Reads notes of a journal that may be missing: without tables, there is no note. */
export const inspectDatabaseNotes = (address: DatabaseOptions): Pick<Journal, 'readNote'> => ({
  readNote: (name) =>
    inspect(address, async (client) => {
      const found = await client.query(`SELECT ${hasTables} AS has_tables`)
      if (found.rows[0]?.has_tables !== true) return undefined
      const installation = await readInstallation(client)
      const { rows } = await client.query(noteSql, [hashWith(installation, name)])
      return NoteRow.optional().parse(rows[0])?.value
    }),
})

const hasTables = "to_regclass('voice_agent_mcp.installation') IS NOT NULL"
