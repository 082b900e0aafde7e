import { createLocalChanges } from '../changes.ts'
import { openOnce } from '../open-once.ts'
import { openSqliteJournal } from '../sqlite/sqlite-journal.ts'
import type { State } from '../state.ts'
import { createMemoryAuditTrail } from './memory-audit-trail.ts'
import { createMemoryCallCounter } from './memory-call-counter.ts'
import { createMemoryRecords } from './memory-records.ts'

/** The state of this process alone, which ends with it. */
export function createMemoryState(): State {
  const journal = openOnce(() => openSqliteJournal(':memory:'))
  const callCounter = createMemoryCallCounter()
  return {
    journal: journal.get,
    callCounter,
    records: createMemoryRecords(),
    audit: createMemoryAuditTrail(),
    changes: createLocalChanges(),
    check: async () => undefined,
    async close() {
      await journal.close((opened) => opened.close())
      await callCounter.close()
    },
  }
}
