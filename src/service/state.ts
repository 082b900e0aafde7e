import type { StateConfig } from '../config/state.ts'
import { createMemoryState } from '../state/memory/memory-state.ts'
import { createSqliteState } from '../state/sqlite/sqlite-state.ts'
import type { State } from '../state/state.ts'
import { stateDirLabel } from './secret-file.ts'

/** The state that the configuration names. Nothing is opened before its first use. */
export const openState = ({ dir }: StateConfig, { isSandbox }: { isSandbox: boolean }): State =>
  dir === ':memory:'
    ? createMemoryState()
    : createSqliteState({ folder: dir, setting: stateDirLabel, isSandbox })
