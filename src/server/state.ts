import { ConfigError } from '../cli/config/config-error.ts'
import { settingLabel } from '../cli/config/setting.ts'
import { type StateConfig, type StateLocation, stateSettings } from '../cli/config/state.ts'
import { type CallStop, readCallStop, writeCallStop } from '../state/call-stop.ts'
import type { InspectedDatabase } from '../state/postgres/postgres-state.ts'
import { unwritableFolder } from '../state/private-files.ts'
import type { SealingKeys } from '../state/sealing.ts'
import {
  createSqliteState,
  type InspectedFile,
  inspectSqliteNotes,
  inspectSqliteState,
} from '../state/sqlite/sqlite-state.ts'
import type { State } from '../state/state.ts'
import { StateError } from '../state/state-access.ts'
import { createUndoLog, type UndoLog, type UndoStore, undoBounds } from '../state/undo-log.ts'
import { stateDirLabel } from './secrets.ts'

/** The configured state, in PostgreSQL or SQLite. Files and connections open at first use. */
export async function openState(
  { databaseUrl: url, dir }: StateLocation,
  isSandbox: boolean,
): Promise<State> {
  if (url !== undefined) {
    const { createPostgresState } = await import('../state/postgres/postgres-state.ts')
    return createPostgresState({ url, setting: databaseLabel, isSandbox })
  }
  return createSqliteState({ folder: dir, setting: stateDirLabel, isSandbox })
}

/**
 * Stops phone and web calls on all servers that share a state, or allows them again (`stop` is
 * `undefined`). In a folder, platform and sandbox have separate journals; in a database they share
 * one. Throws StateError.
 */
export async function setCallStop(
  location: StateLocation,
  stop: CallStop | undefined,
): Promise<void> {
  for (const isSandbox of location.databaseUrl === undefined ? [false, true] : [false]) {
    const state = await openState(location, isSandbox)
    try {
      await writeCallStop(state.journal, stop)
    } finally {
      await state.close()
    }
  }
}

const dayMs = 24 * 3_600_000

/** The log of earlier values for undoing changes; `undefined` if the operator keeps none. */
export function openUndoLog(
  { databaseUrl, dir, undoDays }: StateConfig,
  store: UndoStore,
  sealingKeys: SealingKeys,
): UndoLog | undefined {
  const kept = databaseUrl === undefined && dir === ':memory:' ? 'memory' : 'stored'
  const bounds = { ...undoBounds[kept], maxAgeMs: undoDays * dayMs }
  return undoDays === 0 ? undefined : createUndoLog(store, sealingKeys, bounds)
}

const databaseLabel = settingLabel(stateSettings, 'state-url')

/**
 * Checks the state at the start: connects to the database, or tests if the folder is writable. No
 * file is created, because a read-only server needs none. Returns a warning for a failure that may
 * recover; the server then refuses only what needs the state. Throws ConfigError if the
 * configuration must change.
 */
export async function prepareState(
  state: State,
  { databaseUrl, dir }: StateConfig,
): Promise<string | undefined> {
  try {
    if (databaseUrl === undefined) return dir === ':memory:' ? undefined : folderWarning(dir)
    await state.check()
    return undefined
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    if (error.isTemporary) return error.message
    throw new ConfigError(error.message)
  }
}

function folderWarning(folder: string): string | undefined {
  const fault = unwritableFolder(folder)
  return (
    fault &&
    `The state folder ${folder} cannot be used: ${fault}. Calls and what needs a confirmation are refused until it can. Let this program write to it, or name another with ${stateDirLabel}.`
  )
}

/** Contents of a state, for `doctor`. Reading them changes nothing. */
export type InspectedState =
  | { readonly kind: 'database'; readonly database: InspectedDatabase }
  | { readonly kind: 'files'; readonly folder: string; readonly files: readonly InspectedFile[] }

/** Throws StateError. */
export async function inspectState(
  { databaseUrl: url, dir }: StateLocation,
  isSandbox: boolean,
): Promise<InspectedState> {
  if (url === undefined) {
    const files = await inspectSqliteState({ folder: dir, isSandbox })
    return { kind: 'files', folder: dir, files }
  }
  const { inspectDatabase } = await import('../state/postgres/postgres-state.ts')
  return { kind: 'database', database: await inspectDatabase({ url, setting: databaseLabel }) }
}

/** Reads whether and by whom calls are stopped. Creates no state. Throws StateError. */
export async function inspectCallStop(
  { databaseUrl: url, dir }: StateLocation,
  isSandbox: boolean,
): Promise<CallStop | undefined> {
  if (url === undefined) return readCallStop(inspectSqliteNotes({ folder: dir, isSandbox }))
  const { inspectDatabaseNotes } = await import('../state/postgres/postgres-state.ts')
  return readCallStop(inspectDatabaseNotes({ url, setting: databaseLabel }))
}
