import { randomBytes } from 'node:crypto'
import type { ClientBase } from 'pg'
import * as z from 'zod'
import { StateError } from '../state-error.ts'

/** A change of the tables. Once released it is never edited: another one follows it. */
export interface Migration {
  readonly sql: string
  /** Programs that do not know it cannot work with the tables any more: they refuse from then on. */
  readonly isBreaking?: boolean
}

/**
 * `since` is by the clock of the database, `replica_since` by the clock of the server that wrote it;
 * all instants are ms since 1970. Owners, contents, names and ids are stored as an HMAC with the
 * secret of the installation: guesses cannot be tested against a table without it.
 */
export const migrations: readonly Migration[] = [
  {
    sql: `
      CREATE TABLE voice_agent_mcp.calls (
        owner text NOT NULL,
        external_id text NOT NULL,
        content text NOT NULL,
        minted boolean NOT NULL,
        state text NOT NULL,
        since bigint NOT NULL,
        replica_since bigint NOT NULL,
        call_id text,
        PRIMARY KEY (owner, external_id)
      );
      CREATE INDEX calls_by_content ON voice_agent_mcp.calls (owner, content);
      CREATE INDEX calls_by_call ON voice_agent_mcp.calls (owner, call_id);
      CREATE INDEX calls_by_age ON voice_agent_mcp.calls (since);
      CREATE TABLE voice_agent_mcp.notes (name text PRIMARY KEY, value text NOT NULL);
      CREATE TABLE voice_agent_mcp.counted_calls (
        id text PRIMARY KEY,
        counted_as text NOT NULL,
        at bigint NOT NULL,
        lease_end bigint NOT NULL,
        owner text,
        call_id text
      );
      CREATE INDEX counted_calls_at ON voice_agent_mcp.counted_calls (counted_as, at);
      CREATE INDEX counted_calls_lease ON voice_agent_mcp.counted_calls (counted_as, lease_end);
      CREATE INDEX counted_calls_owner ON voice_agent_mcp.counted_calls (owner);
      CREATE TABLE voice_agent_mcp.records (
        kind text NOT NULL,
        id text NOT NULL,
        owner text NOT NULL,
        value text NOT NULL,
        expires bigint NOT NULL,
        PRIMARY KEY (kind, id)
      );
      CREATE INDEX records_by_owner ON voice_agent_mcp.records (kind, owner);
      CREATE INDEX records_by_end ON voice_agent_mcp.records (expires)`,
  },
  {
    // Nothing in an entry is hashed besides what it says itself: it is there to be read.
    sql: `
      CREATE TABLE voice_agent_mcp.audit_entries (
        id text COLLATE "C" PRIMARY KEY,
        at bigint NOT NULL,
        tool text NOT NULL,
        outcome text NOT NULL,
        key text NOT NULL,
        entry text NOT NULL
      );
      CREATE INDEX audit_entries_by_age ON voice_agent_mcp.audit_entries (at, id)`,
  },
  {
    // Which entry of the journal a counted call is for. Earlier programs leave it empty.
    sql: `
      ALTER TABLE voice_agent_mcp.counted_calls
        ADD COLUMN reserved_owner text, ADD COLUMN external_id text;
      CREATE INDEX counted_calls_reserved ON voice_agent_mcp.counted_calls (reserved_owner, external_id)`,
  },
]

/** What identifies an installation: its tables, whatever server works with them. */
export interface Installation {
  /** Another one means that the tables were made anew. */
  readonly id: string
  /** Owners and contents are hashed with it. */
  readonly secret: string
}

const InstallationRow = z.object({
  id: z.string(),
  secret: z.string(),
  version: z.number(),
  needed_version: z.number(),
})
type InstallationRow = z.output<typeof InstallationRow>

/** All connections of this program have this name in pg_stat_activity. */
export const applicationName = 'voice-agent-mcp'

/** The first number of the advisory locks of this program ("vamc"); the second says what is locked. */
export const lockSpace = 0x76616d63
const migrationLock = 0

/**
 * Makes the tables, or brings them up to date: the first server that starts does it, the others wait.
 * Throws StateError where a newer program has changed them so that this one cannot work with them.
 */
export async function migrate(
  client: ClientBase,
  known: readonly Migration[] = migrations,
): Promise<Installation> {
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${lockSpace}, ${migrationLock})`)
  const { rows } = await client.query("SELECT to_regnamespace('voice_agent_mcp') AS schema")
  if (rows[0]?.schema === null) await createSchema(client)
  const installation = await readInstallation(client)
  refuseNewer(installation, known)
  const missing = known.slice(installation.version)
  if (missing.length > 0) await apply(client, missing, known.length)
  await client.query('COMMIT')
  return installation
}

async function createSchema(client: ClientBase): Promise<void> {
  await client.query(`
    CREATE SCHEMA voice_agent_mcp;
    CREATE TABLE voice_agent_mcp.installation (
      id text PRIMARY KEY,
      secret text NOT NULL,
      version integer NOT NULL,
      needed_version integer NOT NULL
    )`)
  await client.query('INSERT INTO voice_agent_mcp.installation VALUES ($1, $2, 0, 0)', [
    randomBytes(16).toString('hex'),
    randomBytes(32).toString('base64url'),
  ])
}

/** Throws StateError where a newer program has changed the tables so that this one cannot work with them. */
export async function checkInstallation(
  client: ClientBase,
  expected: Installation,
  known: readonly Migration[] = migrations,
): Promise<void> {
  const found = await readInstallation(client)
  if (found.id !== expected.id) {
    throw new StateError(
      'it was replaced by another one while this server was running. What this server has placed is not in it, so it places no more calls. Restart it, and look with list_calls before you repeat what was placed before',
    )
  }
  refuseNewer(found, known)
}

/** The installation of a database that has one. */
export async function readInstallation(client: ClientBase): Promise<InstallationRow> {
  const { rows } = await client.query('SELECT * FROM voice_agent_mcp.installation')
  return InstallationRow.parse(rows[0])
}

/** Throws StateError for tables of a newer program that this one cannot work with. */
export function refuseNewer(
  { needed_version }: InstallationRow,
  known: readonly Migration[] = migrations,
): void {
  if (needed_version <= known.length) return
  throw new StateError(
    `its tables were changed by a newer version of voice-agent-mcp (${needed_version}; this one knows ${known.length}). Update this server`,
  )
}

async function apply(
  client: ClientBase,
  missing: readonly Migration[],
  version: number,
): Promise<void> {
  const isBreaking = missing.some((migration) => migration.isBreaking)
  // Connections that are made meanwhile wait here, and then see that they are too old.
  if (isBreaking) {
    await client.query('LOCK TABLE voice_agent_mcp.installation IN ACCESS EXCLUSIVE MODE')
    await endOtherConnections(client)
  }
  for (const { sql } of missing) await client.query(sql)
  const needed = isBreaking ? version : 0
  await client.query(
    `UPDATE voice_agent_mcp.installation
     SET version = $1, needed_version = GREATEST(needed_version, $2)`,
    [version, needed],
  )
}

/** A server that works with the tables in the old way would go on doing so. */
const endOtherConnections = (client: ClientBase) =>
  client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()`,
    [applicationName],
  )
