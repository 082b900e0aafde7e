import { ConfigError } from '../config/config-error.ts'
import { settingLabel } from '../config/setting.ts'
import { type StateConfig, type StateLocation, stateSettings } from '../config/state.ts'
import { createMemoryState } from '../state/memory/memory-state.ts'
import { createSqliteState } from '../state/sqlite/sqlite-state.ts'
import type { State } from '../state/state.ts'
import { StateError } from '../state/state-error.ts'
import { stateDirLabel } from './secret-file.ts'

/** The state that the configuration names. Nothing is opened before its first use. */
export async function openState(
  { databaseUrl: url, dir }: StateLocation,
  { isSandbox }: { isSandbox: boolean },
): Promise<State> {
  if (url !== undefined) {
    const { createPostgresState } = await import('../state/postgres/postgres-state.ts')
    return createPostgresState({ url, setting: databaseLabel, isSandbox })
  }
  return dir === ':memory:'
    ? createMemoryState()
    : createSqliteState({ folder: dir, setting: stateDirLabel, isSandbox })
}

const databaseLabel = settingLabel(stateSettings, 'state-url')

/**
 * Connects to the database, if there is one; files are made with the first call, and a server that only
 * reads needs none. Gives the warning of a database that cannot be reached at the moment, or of a folder
 * that cannot be written: meanwhile everything else is served. Throws ConfigError where somebody has to
 * change something.
 */
export async function prepareState(
  state: State,
  { databaseUrl, dir }: StateConfig,
): Promise<string | undefined> {
  try {
    if (databaseUrl === undefined) return dir === ':memory:' ? undefined : await folderWarning(dir)
    await state.check()
    return undefined
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    if (error.isTemporary) return error.message
    throw new ConfigError(error.message)
  }
}

async function folderWarning(folder: string): Promise<string | undefined> {
  const { unwritableFolder } = await import('../state/sqlite/writable.ts')
  const fault = unwritableFolder(folder)
  return (
    fault &&
    `The state folder ${folder} cannot be used: ${fault}. Calls and what needs a confirmation are refused until it can. Let this program write to it, or name another with ${stateDirLabel}.`
  )
}
