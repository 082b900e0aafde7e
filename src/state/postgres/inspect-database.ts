import * as z from 'zod'
import { databaseNow, mostClockDifferenceMs, patience, unusable } from './database.ts'
import { applicationName, migrations, readInstallation, refuseNewer } from './migrations.ts'

/** What is known of a database that can be used. */
export interface InspectedDatabase {
  /** Of PostgreSQL, such as `17.6`. */
  readonly server: string
  /** Of the tables; `undefined`: there are none yet. */
  readonly version: number | undefined
  /** Of the tables that this program makes. */
  readonly knownVersion: number
  /** Whether the tables can be made, where there are none. */
  readonly mayCreate: boolean
  /** How far its clock is ahead of this machine's, ms. */
  readonly clockAheadMs: number
  /** Whether the clocks are near enough: a server refuses a database whose clock is not. */
  readonly isClockUsable: boolean
}

const Found = z.object({
  server: z.string(),
  has_tables: z.boolean(),
  may_create: z.boolean(),
  now: z.coerce.number(),
})

/** Connects and looks, without a change to the database. Throws StateError. */
export async function inspectDatabase({
  url,
  setting,
}: {
  readonly url: string
  readonly setting: string
}): Promise<InspectedDatabase> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: patience.connection,
    query_timeout: patience.statement,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query(`
      SELECT current_setting('server_version') AS server,
        to_regclass('voice_agent_mcp.installation') IS NOT NULL AS has_tables,
        has_database_privilege(current_database(), 'CREATE') AS may_create,
        ${databaseNow} AS now`)
    const { server, has_tables, may_create, now } = Found.parse(rows[0])
    const clockAheadMs = now - Date.now()
    const installation = has_tables ? await readInstallation(client) : undefined
    if (installation) refuseNewer(installation)
    return {
      server,
      version: installation?.version,
      knownVersion: migrations.length,
      mayCreate: may_create,
      clockAheadMs,
      isClockUsable: Math.abs(clockAheadMs) < mostClockDifferenceMs,
    }
  } catch (error) {
    throw unusable(error, setting)
  } finally {
    await client.end().catch(() => undefined)
  }
}
