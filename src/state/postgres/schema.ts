import { randomBytes } from 'node:crypto'
import type { ClientBase } from 'pg'
import * as z from 'zod'
import { StateError } from '../state-access.ts'

/** Version of the tables below. Every change of the tables increments it. */
const schemaVersion = 7

/** Counts added and deleted records per owner, and per kind under the owner ''. */
const countRecords = (event: string, tables: string, changes: string) => `
  CREATE FUNCTION voice_agent_mcp.count_on_${event}() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO voice_agent_mcp.record_counts AS counted
    -- In a fixed order, so that two statements never wait for each other.
    SELECT kind, counted_for, sum(change)
      FROM (${changes}) AS changes, LATERAL (VALUES (''), (owner)) AS names (counted_for)
      GROUP BY kind, counted_for HAVING sum(change) <> 0 ORDER BY kind, counted_for
    ON CONFLICT (kind, owner) DO UPDATE SET count = counted.count + EXCLUDED.count;
    RETURN NULL;
  END $$;
  CREATE TRIGGER records_${event} AFTER ${event} ON voice_agent_mcp.records
    REFERENCING ${tables} FOR EACH STATEMENT
    EXECUTE FUNCTION voice_agent_mcp.count_on_${event}();`

const added = 'SELECT kind, owner, 1 AS change FROM added'
const removed = 'SELECT kind, owner, -1 AS change FROM removed'

/**
 * The tables. `needed_version`: minimum version of this program that can use them. `secret`: key of
 * the HMAC that replaces stored owners, contents, names and ids, so that nobody can test guesses
 * against a table alone. Audit entries are readable, except for hashes in them. Values of undo
 * items are encrypted. All instants are ms since 1970. `since` is by the database's clock,
 * `replica_since` by the clock of the server that wrote the row; `uptime` and `boot` are of that
 * server's machine (see Timestamp). `sent` is the time of the first send, by the clock of the two
 * that gives the earlier time. `reserved_owner` and `external_id` of a counted call are the key of
 * its journal entry.
 */
const schema = `
  CREATE SCHEMA voice_agent_mcp;
  CREATE TABLE voice_agent_mcp.installation (
    id text PRIMARY KEY,
    secret text NOT NULL,
    version integer NOT NULL,
    needed_version integer NOT NULL
  );

  CREATE TABLE voice_agent_mcp.calls (
    owner text NOT NULL,
    external_id text NOT NULL,
    content text NOT NULL,
    minted boolean NOT NULL,
    state text NOT NULL,
    since bigint NOT NULL,
    replica_since bigint NOT NULL,
    uptime bigint NOT NULL,
    boot text NOT NULL,
    sent bigint NOT NULL,
    sent_uptime bigint NOT NULL,
    sent_boot text NOT NULL,
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
    call_id text,
    reserved_owner text,
    external_id text
  );
  CREATE INDEX counted_calls_at ON voice_agent_mcp.counted_calls (counted_as, at);
  CREATE INDEX counted_calls_lease ON voice_agent_mcp.counted_calls (counted_as, lease_end);
  CREATE INDEX counted_calls_owner ON voice_agent_mcp.counted_calls (owner);
  CREATE INDEX counted_calls_reserved ON voice_agent_mcp.counted_calls (reserved_owner, external_id);

  CREATE TABLE voice_agent_mcp.records (
    kind text NOT NULL,
    id text NOT NULL,
    owner text NOT NULL,
    value text NOT NULL,
    expires bigint NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX records_by_end ON voice_agent_mcp.records (expires);
  CREATE TABLE voice_agent_mcp.record_counts (
    kind text NOT NULL,
    owner text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (kind, owner)
  );
  ${countRecords('insert', 'NEW TABLE AS added', added)}
  ${countRecords('delete', 'OLD TABLE AS removed', removed)}
  ${countRecords('update', 'OLD TABLE AS removed NEW TABLE AS added', `${added} UNION ALL ${removed}`)}

  CREATE TABLE voice_agent_mcp.audit_entries (
    id text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL,
    tool text NOT NULL,
    outcome text NOT NULL,
    key text NOT NULL,
    entry text NOT NULL
  );
  CREATE INDEX audit_entries_by_age ON voice_agent_mcp.audit_entries (at, id);

  CREATE TABLE voice_agent_mcp.undo_items (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    change text NOT NULL,
    item integer NOT NULL,
    object text NOT NULL,
    at bigint NOT NULL,
    value text NOT NULL,
    UNIQUE (owner, change, item)
  );
  CREATE INDEX undo_items_of_owner ON voice_agent_mcp.undo_items (owner, seq);
  CREATE INDEX undo_items_of_object ON voice_agent_mcp.undo_items (owner, object, seq);
  CREATE INDEX undo_items_by_age ON voice_agent_mcp.undo_items (at)`

/** Identity of the tables, equal for all servers. */
export interface Installation {
  /** Changes when the tables are recreated. */
  readonly id: string
  /** HMAC key for owners and contents. */
  readonly secret: string
  /** Schema version. */
  readonly version: number
}

const InstallationRow = z.object({
  id: z.string(),
  secret: z.string(),
  version: z.number(),
  needed_version: z.number(),
})

/** Name of this program's connections in pg_stat_activity. */
export const applicationName = 'voice-agent-mcp'

/**
 * First number of this program's advisory locks ("vamc"). The second number says what is locked.
 */
export const lockSpace = 0x76616d63
const schemaLock = 0

/**
 * Creates missing tables. The first server creates them, and all others wait. Throws StateError for
 * an incompatible schema version.
 */
export async function openInstallation(client: ClientBase): Promise<Installation> {
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${lockSpace}, ${schemaLock})`)
  const { rows } = await client.query("SELECT to_regnamespace('voice_agent_mcp') AS schema")
  if (rows[0]?.schema === null) {
    await client.query(schema)
    await client.query('INSERT INTO voice_agent_mcp.installation VALUES ($1, $2, $3, $3)', [
      randomBytes(16).toString('hex'),
      randomBytes(32).toString('base64url'),
      schemaVersion,
    ])
  }
  const installation = await readInstallation(client)
  await client.query('COMMIT')
  return installation
}

/**
 * Throws StateError if the tables were recreated, or changed by a newer version of this program.
 */
export async function checkInstallation(client: ClientBase, opened: Installation): Promise<void> {
  const found = await readInstallation(client)
  if (found.id !== opened.id) {
    throw new StateError(
      'it was replaced by another one while this server was running. The new database does not have the calls that this server placed, so this server places no more calls. Restart it, and look with list_calls before you repeat an earlier call',
    )
  }
}

/** Throws StateError for an incompatible schema version. */
export async function readInstallation(client: ClientBase): Promise<Installation> {
  const { rows } = await client.query('SELECT * FROM voice_agent_mcp.installation')
  const { needed_version, ...installation } = InstallationRow.parse(rows[0])
  if (needed_version > schemaVersion)
    throw new StateError(
      `its tables were changed by a newer version of voice-agent-mcp (${needed_version}; this one knows ${schemaVersion}). Update this server`,
    )
  if (installation.version < schemaVersion)
    throw new StateError(
      `its tables were made by an earlier version of voice-agent-mcp (${installation.version}; this one knows ${schemaVersion}). Start the version that made them, or name another database`,
    )
  return installation
}
