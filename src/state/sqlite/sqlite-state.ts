import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../text/safe-text.ts'
import { createLocalBroadcast } from '../broadcast.ts'
import type { Journal } from '../call-journal.ts'
import type { State } from '../state.ts'
import { StateError } from '../state-access.ts'
import { auditSchema, createSqliteAuditTrail } from './sqlite-audit-trail.ts'
import { callCounterSchema, createSqliteCallCounter } from './sqlite-call-counter.ts'
import { createSqliteJournal, journalSchema, noteIn } from './sqlite-call-journal.ts'
import { createSqliteRecords, recordsSchema } from './sqlite-records.ts'
import { createSqliteUndoStore, undoSchema } from './sqlite-undo-store.ts'
import { inspectStateFile, keyedHashOf } from './state-file.ts'

interface SqliteStateOptions {
  /** Folder of the files. `:memory:`: the state belongs to this process and ends with it. */
  readonly folder: string
  /** Name of the setting that has the folder, for errors. */
  readonly setting: string
  /** True for the sandbox: its simulated calls do not count against the limits of real calls. */
  readonly isSandbox: boolean
}

/** The schema of each file of a state, by file name. */
const stateFiles = {
  'calls.db': journalSchema,
  'dialled.db': callCounterSchema,
  'records.db': recordsSchema,
  'audit.db': auditSchema,
  'undo.db': undoSchema,
} as const

const stateFile = (folder: string, name: string, isSandbox: boolean) =>
  folder === ':memory:' ? folder : join(folder, `${isSandbox ? 'sandbox-' : ''}${name}`)

/**
 * The state in SQLite files, which servers on one machine share. Each file is opened on first use.
 */
export function createSqliteState({ folder, setting, isSandbox }: SqliteStateOptions): State {
  const file = (name: keyof typeof stateFiles) => stateFile(folder, name, isSandbox)
  const journal = createSqliteJournal(file('calls.db'), setting)
  const callCounter = createSqliteCallCounter(file('dialled.db'), setting)
  const records = createSqliteRecords(file('records.db'), setting)
  const audit = createSqliteAuditTrail(file('audit.db'), setting)
  const undo = createSqliteUndoStore(file('undo.db'), setting)
  return {
    journal,
    callCounter,
    records,
    audit,
    undo,
    broadcast: createLocalBroadcast(),
    check: journal.check,
    async close() {
      for (const part of [journal, callCounter, records, audit, undo]) await part.close()
    },
  }
}

/** An existing file of a state. */
export interface InspectedFile {
  readonly file: string
  /** Schema version. */
  readonly version: number
  /** Reason why the file is unusable; `undefined`: the file is usable. */
  readonly problem: string | undefined
}

/** Lists the existing files of a state, without changing anything. */
export async function inspectSqliteState({
  folder,
  isSandbox,
}: Pick<SqliteStateOptions, 'folder' | 'isSandbox'>): Promise<InspectedFile[]> {
  const found = Object.entries(stateFiles)
    .map(([name, kind]) => ({ file: stateFile(folder, name, isSandbox), kind }))
    .filter(({ file }) => existsSync(file))
  return Promise.all(
    found.map(async ({ file, kind }) => {
      try {
        await inspectStateFile(file, kind, () => undefined)
        return { file, version: kind.version, problem: undefined }
      } catch (error) {
        return { file, version: kind.version, problem: messageOf(error) }
      }
    }),
  )
}

/**
 * Reads notes of a journal that may be missing: without a file, there is no note. Changes nothing.
 */
export const inspectSqliteNotes = ({
  folder,
  isSandbox,
}: Pick<SqliteStateOptions, 'folder' | 'isSandbox'>): Pick<Journal, 'readNote'> => ({
  async readNote(name) {
    const file = stateFile(folder, 'calls.db', isSandbox)
    if (!existsSync(file)) return undefined
    try {
      return await inspectStateFile(file, journalSchema, (db) => noteIn(db, keyedHashOf(db)(name)))
    } catch (cause) {
      const message = `The journal of calls ${file} cannot be used: ${messageOf(cause)}.`
      throw new StateError(message, { cause })
    }
  },
})
