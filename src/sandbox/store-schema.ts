/** Increased with every change of the tables. */
export const schemaVersion = 1

/**
 * The id of this database: a journal that has calls of one sandbox does not take them for calls of
 * another. Files of older versions get it when they are opened.
 */
export const identitySchema = `
CREATE TABLE IF NOT EXISTS sandbox (id TEXT NOT NULL) STRICT;
INSERT INTO sandbox SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM sandbox)`

/** Web calls that can be joined in a browser. Files of older versions get the table when they are opened. */
export const webCallSchema = `
CREATE TABLE IF NOT EXISTS web_calls (
  call_id TEXT PRIMARY KEY REFERENCES calls (id),
  token TEXT NOT NULL UNIQUE,
  talk TEXT NOT NULL,
  joined INTEGER
) STRICT, WITHOUT ROWID`

/**
 * Tables of the sandbox. Instants are Unix milliseconds. When a call is placed, its row gets its whole
 * course (see call-state.ts), so its state is a function of the row and the time.
 */
export const schema = `
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
BEGIN
  INSERT INTO usage_hours
  VALUES (NEW.account_id, NEW.created / 3600000, NEW.agent_id, NEW.type, 1, NEW.duration_seconds)
  ON CONFLICT DO UPDATE SET
    conversations = conversations + 1, seconds = seconds + excluded.seconds;
END;

CREATE TRIGGER usage_counts_finished_call AFTER UPDATE OF outcome ON calls
WHEN NEW.outcome = 'completed' AND OLD.outcome <> 'completed'
BEGIN
  INSERT INTO usage_hours
  VALUES (NEW.account_id, NEW.created / 3600000, NEW.agent_id, NEW.type, 1, NEW.duration_seconds)
  ON CONFLICT DO UPDATE SET
    conversations = conversations + 1, seconds = seconds + excluded.seconds;
END;
`
