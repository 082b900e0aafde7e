import { join } from 'node:path'
import { createLocalChanges } from '../changes.ts'
import { openOnce } from '../open-once.ts'
import type { State } from '../state.ts'
import { createSqliteAuditTrail } from './sqlite-audit-trail.ts'
import { createSqliteCallCounter } from './sqlite-call-counter.ts'
import { openSqliteJournal } from './sqlite-journal.ts'
import { createSqliteRecords } from './sqlite-records.ts'

export interface SqliteStateOptions {
  readonly folder: string
  /** What names the folder, for errors. */
  readonly setting: string
  /** Simulated calls do not count for the limits of real ones. */
  readonly isSandbox: boolean
}

/** The state in SQLite files, which the servers of one machine share. Each is opened with its first use. */
export function createSqliteState({ folder, setting, isSandbox }: SqliteStateOptions): State {
  const file = (name: string) => join(folder, `${isSandbox ? 'sandbox-' : ''}${name}`)
  const journal = openOnce(() => openSqliteJournal(file('calls.db')))
  const callCounter = createSqliteCallCounter(file('dialled.db'), setting)
  const records = createSqliteRecords(file('records.db'), setting)
  const audit = createSqliteAuditTrail(file('audit.db'), setting)
  const open = async () => {
    const opened = await journal.get()
    await opened.restoreFile()
    return opened
  }
  return {
    journal: open,
    callCounter,
    records,
    audit,
    changes: createLocalChanges(),
    async check() {
      await open()
    },
    async close() {
      await journal.close((opened) => opened.close())
      await callCounter.close()
      await records.close()
      await audit.close()
    },
  }
}
