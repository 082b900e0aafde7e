import type { Environment } from '../../config/setting-texts.ts'
import type { UsableConfig } from '../../config/usable-config.ts'
import type { ShownSetting } from './configuration-check.ts'

/** What is checked, and how the result is printed. */
export interface DoctorConfig extends UsableConfig {
  readonly env: Environment
  readonly settings: readonly ShownSetting[]
  /** Texts that are never printed. */
  readonly secrets: readonly string[]
  /** The name of the server in the files of clients. */
  readonly serverName: string
  readonly wantsJson: boolean
  readonly version: string
}
