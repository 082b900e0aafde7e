import { createHmac, randomBytes } from 'node:crypto'
import { chmodSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { StateFile } from './sqlite-file.ts'

/*
 * The file of the journal. Whose a call is and what was asked for are kept as an HMAC with a secret
 * of this file alone: who reads it learns neither keys nor numbers, and cannot try them out either
 * without the secret.
 */

/**
 * `since`, `uptime` and `boot` are one moment (see moment.ts). The table is not called what it was
 * in version 1: a program of that version which has the file open fails on it, and does not write
 * what this one would not find.
 */
const schema = `
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
  db.exec(schema)
  const insert = db.prepare('INSERT INTO secret VALUES (?, ?)')
  insert.run(randomBytes(16).toString('hex'), randomBytes(32))
}

/** Version 1 kept bare hashes; what was placed then is sealed, and found under its old owner. */
function upgrade(db: DatabaseSync): void {
  // What is deleted is overwritten: bare hashes of keys do not stay in unused pages.
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

export const journalFile: StateFile = {
  // "once"
  applicationId: 0x6f6e6365,
  version: 2,
  create,
  upgrade,
}

const Secret = z.object({ id: z.string(), secret: z.instanceof(Uint8Array) })

/** What identifies a journal, and how texts are sealed in it. */
export interface Secrets {
  /** The same in a copy of the file, and in no other file. */
  readonly id: string
  readonly seal: (text: string) => string
}

export function secretsOf(db: DatabaseSync): Secrets {
  const { id, secret } = Secret.parse(db.prepare('SELECT id, secret FROM secret').get())
  return { id, seal: (text) => createHmac('sha256', secret).update(text).digest('base64url') }
}
