import { createHmac, randomBytes } from 'node:crypto'
import { chmodSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { StateFile } from './state-file.ts'

/*
 * The file of the journal. The owner of a call and what was asked for are stored as an HMAC with a
 * secret of this file: the stored values contain no key and no number, and guesses cannot be tested
 * against them without the secret.
 */

/**
 * `since`, `uptime` and `boot` are one Timestamp. The table has another name than in version 1: a
 * program of version 1 that has the file open fails, and does not write where this one never looks.
 */
const tables = `
  CREATE TABLE calls (
    owner TEXT NOT NULL,
    external_id TEXT NOT NULL,
    content TEXT NOT NULL,
    minted INTEGER NOT NULL,
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    uptime INTEGER NOT NULL,
    boot TEXT NOT NULL,
    call_id TEXT,
    PRIMARY KEY (owner, external_id)
  ) STRICT;
  CREATE INDEX calls_by_content ON calls (owner, content, since);
  CREATE INDEX calls_by_call ON calls (owner, call_id);
  CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE secret (id TEXT NOT NULL, secret BLOB NOT NULL) STRICT`

function create(db: DatabaseSync): void {
  db.exec(tables)
  const insert = db.prepare('INSERT INTO secret VALUES (?, ?)')
  insert.run(randomBytes(16).toString('hex'), randomBytes(32))
}

/** Version 1 stored plain hashes. Its entries are sealed, and found under their former owner. */
function upgrade(db: DatabaseSync): void {
  // Deleted content is overwritten: no plain hash of a key stays in an unused page.
  db.exec('PRAGMA secure_delete = ON')
  create(db)
  const file = db.location()
  if (file !== null) chmodSync(file, 0o600)
  const { seal } = secretsOf(db)
  db.function('seal', { deterministic: true }, (text) => seal(String(text)))
  db.exec(`
    INSERT INTO calls
    SELECT seal(owner), external_id, seal(content), minted, state, since, 0, '', call_id FROM placements;
    DROP TABLE placements`)
}

export const journalSchema: StateFile = {
  // "once"
  applicationId: 0x6f6e6365,
  version: 2,
  create,
  upgrade,
}

const SecretRow = z.object({ id: z.string(), secret: z.instanceof(Uint8Array) })

/** What identifies a journal, and how texts are stored in it. */
export interface JournalSecrets {
  /** The same in a copy of the file, and in no other file. */
  readonly id: string
  /** Hashes a text with the secret of the file. */
  readonly seal: (text: string) => string
}

export function secretsOf(db: DatabaseSync): JournalSecrets {
  const { id, secret } = SecretRow.parse(db.prepare('SELECT id, secret FROM secret').get())
  return { id, seal: (text) => createHmac('sha256', secret).update(text).digest('base64url') }
}
