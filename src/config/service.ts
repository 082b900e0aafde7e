import type { LogOptions } from '../observe/log.ts'
import { type AuditConfig, auditConfig, auditSettings } from './audit.ts'
import { type CallingConfig, callingConfig, callingSettings } from './calling.ts'
import { logConfig, logSettings } from './log.ts'
import { type PlatformConfig, platformConfig, platformSettings } from './platform.ts'
import { sandboxSettings } from './sandbox.ts'
import { type ScopeConfig, scopeConfig, scopeSettings } from './scope.ts'
import type { SettingTexts } from './setting.ts'
import type { Environment } from './setting-texts.ts'
import { type StateConfig, stateConfig, stateSettings } from './state.ts'

/** How assistants are served, the same over stdio and HTTP. */
export interface ServiceConfig {
  readonly platform: PlatformConfig
  readonly scope: ScopeConfig
  readonly calling: CallingConfig
  readonly state: StateConfig
  readonly audit: AuditConfig
  readonly log: LogOptions
}

export const serviceSettings = {
  ...platformSettings,
  ...scopeSettings,
  ...callingSettings,
  ...stateSettings,
  ...auditSettings,
  ...sandboxSettings,
  ...logSettings,
}

export const serviceConfig = (
  texts: SettingTexts,
  env: Environment,
  options: { needsKey: boolean },
): ServiceConfig => {
  const state = stateConfig(texts)
  return {
    platform: platformConfig(texts, env, options),
    scope: scopeConfig(texts),
    calling: callingConfig(texts),
    state,
    audit: auditConfig(texts, state),
    log: logConfig(texts),
  }
}
