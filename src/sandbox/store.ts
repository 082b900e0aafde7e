import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { makePrivateFile } from '../state/private-files.ts'
import { busy, type Guard, guardOf, parsed, resultCode } from './database-file-error.ts'

/** Schema version; incremented with every change of the tables. */
const schemaVersion = 1

/** Body of the triggers that add a completed call to the usage of its hour. */
const countCall = `BEGIN
  INSERT INTO usage_hours
  VALUES (NEW.account_id, NEW.created / 3600000, NEW.agent_id, NEW.type, 1, NEW.duration_seconds)
  ON CONFLICT DO UPDATE SET
    conversations = conversations + 1, seconds = seconds + excluded.seconds;
END;`

/**
 * Tables of the sandbox. Instants are Unix ms. A call's row holds its whole course from the start
 * (call-row.ts), so its state is a function of the row and the time.
 */
const schema = `
-- Id of the database, by which a client's journal distinguishes calls of different sandboxes.
CREATE TABLE sandbox (id TEXT NOT NULL) STRICT;
INSERT INTO sandbox VALUES (lower(hex(randomblob(16))));

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  parent_id TEXT REFERENCES accounts (id),
  name TEXT NOT NULL,
  is_active INTEGER NOT NULL DEFAULT 1,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL
) STRICT;
CREATE INDEX accounts_parent ON accounts (parent_id);

CREATE TABLE api_keys (
  api_key TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name_folded TEXT NOT NULL,
  is_archived INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  config TEXT NOT NULL
) STRICT;
CREATE INDEX agents_account ON agents (account_id, created);

CREATE TABLE sip_trunks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT,
  termination_uri TEXT,
  allowed_ips TEXT NOT NULL DEFAULT '[]',
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX sip_trunks_account ON sip_trunks (account_id, created);

CREATE TABLE phone_numbers (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  number TEXT NOT NULL,
  friendly_name TEXT,
  sip_trunk_id TEXT REFERENCES sip_trunks (id),
  inbound_agent_id TEXT REFERENCES agents (id),
  created INTEGER NOT NULL,
  UNIQUE (account_id, number)
) STRICT;
CREATE INDEX phone_numbers_trunk ON phone_numbers (sip_trunk_id);

CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  type TEXT NOT NULL,
  direction TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  agent_name TEXT,
  phone_number_id TEXT,
  from_number TEXT,
  to_number TEXT,
  external_id TEXT,
  is_recorded INTEGER NOT NULL,
  created INTEGER NOT NULL,
  answered INTEGER,
  ended INTEGER NOT NULL,
  answer_status TEXT NOT NULL,
  outcome TEXT NOT NULL,
  duration_seconds REAL NOT NULL,
  speed REAL NOT NULL,
  script TEXT NOT NULL
) STRICT;
CREATE INDEX calls_account ON calls (account_id, created);
CREATE INDEX calls_ended ON calls (ended);
CREATE UNIQUE INDEX calls_external ON calls (account_id, external_id) WHERE external_id IS NOT NULL;

-- Web calls that can be joined in a browser.
CREATE TABLE web_calls (
  call_id TEXT PRIMARY KEY REFERENCES calls (id),
  token TEXT NOT NULL UNIQUE,
  talk TEXT NOT NULL,
  joined INTEGER
) STRICT, WITHOUT ROWID;

-- Completed calls added up by the hour they were placed in, so that usage over a year need not
-- read every call. A call is counted from the start; those that have not ended yet are taken off
-- again when usage is read.
CREATE TABLE usage_hours (
  account_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  type TEXT NOT NULL,
  conversations INTEGER NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (account_id, hour, agent_id, type)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER usage_counts_new_call AFTER INSERT ON calls WHEN NEW.outcome = 'completed'
${countCall}

CREATE TRIGGER usage_counts_finished_call AFTER UPDATE OF outcome ON calls
WHEN NEW.outcome = 'completed' AND OLD.outcome <> 'completed'
${countCall}
`

export type SqlParams = Record<string, SQLInputValue>

/**
 * The sandbox's database: one SQLite file, which several processes may share. Throws StoreError if
 * the file cannot be used.
 */
export interface Store {
  /** All rows of a query, parsed. */
  all<T>(row: z.ZodType<T>, sql: string, params?: SqlParams): T[]
  /** The first row of a query, parsed. */
  get<T>(row: z.ZodType<T>, sql: string, params?: SqlParams): T | undefined
  /** The row with these values, parsed. */
  find<T>(row: z.ZodType<T>, table: string, values: SqlParams): T | undefined
  run(sql: string, params?: SqlParams): void
  insert(table: string, row: SqlParams): void
  /** Changes columns of the row with this id. */
  update(table: string, id: string, columns: SqlParams): void
  /** Runs `work` in a new or the open transaction. */
  transaction<T>(work: () => T): T
  /**
   * Runs `work` in a transaction. Waits for another process's write without blocking this process.
   */
  write<T>(work: () => T): Promise<T>
  /** Runs read-only `work` on one snapshot of the file. */
  snapshot<T>(work: () => T): T
  close(): void
}

/** Timeout for another process's write, ms. */
const busyTimeoutMs = 5000

/**
 * Opens or creates the database; `:memory:` stores nothing on disk. `fill` runs in the transaction
 * that creates the tables, so a file has both tables and data or neither, and only one of two
 * concurrent processes fills it. Throws StoreError.
 */
export function openStore(
  file: string,
  fill: (store: Store) => void,
  { isReset = false }: { isReset?: boolean | undefined } = {},
): Store {
  const guard = guardOf(file)
  const db = guard(() => retryWhileBusy(() => connect(file, isReset)))
  try {
    const store = storeOn(db, guard)
    // A transaction takes the write lock, which another process may hold, so a file that has the
    // tables is opened without one.
    if (isReset || guard(() => isEmpty(db))) {
      store.transaction(() => {
        if (isReset) guard(() => dropTables(db))
        if (guard(() => createTables(db))) fill(store)
      })
    }
    return store
  } catch (error) {
    db.close()
    throw error
  }
}

function connect(file: string, isReset: boolean): DatabaseSync {
  if (file !== ':memory:') makePrivateFile(file)
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    // Checked before any change: the file may belong to another program.
    isEmpty(db, { isAnyVersion: isReset })
    // WAL lets processes read during a write; NORMAL survives a crash of the process.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Retries while the file is locked: SQLite's busy timeout does not apply to some locks of opening
 * and recovery.
 */
function retryWhileBusy<T>(work: () => T): T {
  const end = Date.now() + busyTimeoutMs
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (resultCode(error) !== busy || Date.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

function storeOn(db: DatabaseSync, guard: Guard): Store {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (!statement) {
      statement = db.prepare(sql)
      // Lists bind the parameters of all filters; a statement names only those of the filters in
      // use.
      statement.setAllowUnknownNamedParameters(true)
      statements.set(sql, statement)
    }
    return statement
  }
  const within = <T>(begin: string, work: () => T): T => {
    if (db.isTransaction) return work()
    guard(() => db.exec(begin))
    return finish(work)
  }
  const finish = <T>(work: () => T): T => {
    try {
      const result = work()
      guard(() => db.exec('COMMIT'))
      return result
    } catch (error) {
      // SQLite rolls back by itself if the disk is full.
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
  const get: Store['get'] = (row, sql, params = {}) =>
    guard(() => {
      const found = prepare(sql).get(params)
      return found && parsed(row, found)
    })
  const run: Store['run'] = (sql, params = {}) => guard(() => void prepare(sql).run(params))
  return {
    all: (row, sql, params = {}) =>
      guard(() =>
        prepare(sql)
          .all(params)
          .map((found) => parsed(row, found)),
      ),
    get,
    find: (row, table, values) =>
      get(row, `SELECT * FROM ${table} WHERE ${equalities(values).join(' AND ')}`, values),
    run,
    insert(table, row) {
      const names = Object.keys(row)
      run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (:${names.join(', :')})`, row)
    },
    update: (table, id, columns) =>
      run(`UPDATE ${table} SET ${equalities(columns).join(', ')} WHERE id = :id`, {
        ...columns,
        id,
      }),
    // IMMEDIATE: no other process may change the data between read and write.
    transaction: (work) => within('BEGIN IMMEDIATE', work),
    async write(work) {
      const end = performance.now() + busyTimeoutMs
      while (!guard(() => hasBegun(db, end))) await sleep(1 + Math.random() * 10)
      return finish(work)
    },
    snapshot: (work) => within('BEGIN', work),
    close: () => db.close(),
  }
}

const equalities = (columns: SqlParams) => Object.keys(columns).map((name) => `${name} = :${name}`)

/**
 * Begins a transaction. Returns false while another process writes; throws SQLite's error once the
 * deadline `end` has passed.
 */
function hasBegun(db: DatabaseSync, end: number): boolean {
  // Otherwise SQLite would block this process while it waits.
  db.exec('PRAGMA busy_timeout = 0')
  try {
    db.exec('BEGIN IMMEDIATE')
    return true
  } catch (error) {
    if (resultCode(error) !== busy || performance.now() > end) throw error
    return false
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  }
}

const Header = z.object({ version: z.int(), tables: z.int(), own: z.int() })

/** True for a new file, false for a sandbox file; throws for anything else. */
function isEmpty(db: DatabaseSync, { isAnyVersion = false } = {}): boolean {
  const { version, tables, own } = Header.parse(
    db
      .prepare(
        `SELECT user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables,
         (SELECT count(*) FROM sqlite_schema WHERE name = 'web_calls') AS own
         FROM pragma_user_version`,
      )
      .get(),
  )
  if (version === 0 && tables === 0) return true
  if ((version === schemaVersion || isAnyVersion) && own === 1) return false
  if (own === 1)
    throw new Error(`it was written by another version (${version}, not ${schemaVersion})`)
  throw new Error('it is a database of another program')
}

/**
 * Empties the file and replaces the sandbox's id, because its calls are new. Another process that
 * has the file open continues with the new data.
 */
function dropTables(db: DatabaseSync): void {
  const tables = z
    .array(z.object({ name: z.string() }))
    .parse(db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all())
  // A row may refer to a table that is dropped earlier.
  db.exec('PRAGMA defer_foreign_keys = ON')
  for (const { name } of tables) {
    if (!name.startsWith('sqlite_')) db.exec(`DROP TABLE "${name.replaceAll('"', '""')}"`)
  }
  db.exec('PRAGMA user_version = 0')
}

/** Creates the tables of a new file; false if they exist. */
function createTables(db: DatabaseSync): boolean {
  if (!isEmpty(db)) return false
  db.exec(schema)
  db.exec(`PRAGMA user_version = ${schemaVersion}`)
  return true
}
