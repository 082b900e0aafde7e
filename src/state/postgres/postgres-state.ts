import type { State } from '../state.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { createPostgresAuditTrail } from './postgres-audit-trail.ts'
import { createPostgresCallCounter } from './postgres-call-counter.ts'
import { createPostgresChanges } from './postgres-changes.ts'
import { createPostgresJournal } from './postgres-journal.ts'
import { createPostgresRecords } from './postgres-records.ts'

/** Loaded with this file: as a part of its own it would split what a server loads. */
export { inspectDatabase } from './inspect-database.ts'

export interface PostgresStateOptions extends DatabaseOptions {
  /** Simulated calls do not count for the limits of real ones. */
  readonly isSandbox: boolean
}

/** The state in a PostgreSQL database, for servers on any machines. */
export function createPostgresState({ isSandbox, ...options }: PostgresStateOptions): State {
  const database = openDatabase(options)
  const changes = createPostgresChanges(options.url, database)
  const journal = createPostgresJournal(database)
  return {
    journal: async () => journal,
    callCounter: createPostgresCallCounter(database, {
      countedAs: isSandbox ? 'sandbox' : 'platform',
    }),
    records: createPostgresRecords(database),
    audit: createPostgresAuditTrail(database),
    changes,
    check: database.check,
    async close() {
      await changes.close()
      await database.close()
    },
  }
}
