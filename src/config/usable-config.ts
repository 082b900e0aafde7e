import { type AuditConfig, auditConfig } from './audit.ts'
import { type CallingConfig, callingConfig } from './calling.ts'
import { ConfigError } from './config-error.ts'
import { type PlatformConfig, platformConfig } from './platform.ts'
import { type ScopeConfig, scopeConfig } from './scope.ts'
import type { SettingTexts } from './setting.ts'
import type { Environment } from './setting-texts.ts'
import { type StateConfig, stateConfig } from './state.ts'

/** The parts of a configuration; `undefined`: the part cannot be used. */
export interface UsableConfig {
  readonly platform: PlatformConfig | undefined
  readonly scope: ScopeConfig | undefined
  readonly calling: CallingConfig | undefined
  readonly state: StateConfig | undefined
  readonly audit: AuditConfig | undefined
  /** What is wrong with the others. */
  readonly faults: readonly string[]
}

/**
 * Reads each part of a configuration by itself: a fault of one does not hide the others. `found` are
 * faults that are known already; `checks` throw ConfigError for what no part contains.
 */
export function usableConfig(
  texts: SettingTexts,
  env: Environment,
  found: readonly ConfigError[],
  checks: readonly (() => unknown)[],
): UsableConfig {
  const faults = new Set(found.map(({ message }) => message))
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      faults.add(error.message)
      return undefined
    }
  }
  const state = attempt(() => stateConfig(texts))
  const parts = {
    platform: attempt(() => platformConfig(texts, env, { needsKey: false })),
    scope: attempt(() => scopeConfig(texts)),
    calling: attempt(() => callingConfig(texts)),
    state,
    audit: state && attempt(() => auditConfig(texts, state)),
  }
  for (const check of checks) attempt(check)
  return { ...parts, faults: [...faults] }
}
