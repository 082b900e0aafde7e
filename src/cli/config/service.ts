import { type LogOptions, logForms, logLevels } from '../../server/observe/log.ts'
import { type CallingConfig, callingConfig, callingSettings } from './calling.ts'
import { ConfigError, faultsOf, throwFaults } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import {
  type PlatformConfig,
  platformConfig,
  platformSettings,
  sandboxSettings,
} from './platform.ts'
import { type ScopeConfig, scopeConfig, scopeSettings } from './scope.ts'
import { choice, optionalChoice, type SettingTexts, settingReader } from './setting.ts'
import {
  type AuditConfig,
  auditConfig,
  auditSettings,
  type StateConfig,
  stateConfig,
  stateSettings,
} from './state.ts'

export const logSettings = {
  log: choice({
    variable: 'VOICE_AGENT_LOG',
    value: 'FORM',
    help: 'Form of the log on standard error. text: lines for people; json: one JSON object a line, for programs; off: no log.',
    choices: logForms,
    default: 'text',
  }),
  'log-level': optionalChoice({
    variable: 'VOICE_AGENT_LOG_LEVEL',
    value: 'LEVEL',
    help: 'What the log holds. error: defects and broken connections; warn: also warnings; notice: also start, stop and connecting clients; info: also one line for each request and each refused HTTP request; debug: also messages of errors, which may hold texts of clients.',
    choices: logLevels,
    range: 'Default notice; info with --log json.',
  }),
}

export function logConfig(texts: SettingTexts): LogOptions {
  const value = settingReader(logSettings, texts)
  const form = value('log')
  return { form, level: value('log-level') ?? (form === 'json' ? 'info' : 'notice') }
}

/** Service configuration, the same over stdio and HTTP. */
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
  throwFaults(
    faultsOf([
      () => platformConfig(texts, env, options),
      () => scopeConfig(texts),
      () => callingConfig(texts),
      () => auditConfig(texts, stateConfig(texts)),
      () => logConfig(texts),
    ]),
  )
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

/** Parts of a configuration; `undefined`: invalid. */
export interface UsableConfig {
  readonly platform: PlatformConfig | undefined
  readonly scope: ScopeConfig | undefined
  readonly calling: CallingConfig | undefined
  readonly state: StateConfig | undefined
  readonly audit: AuditConfig | undefined
  /** Faults of the invalid parts. */
  readonly faults: readonly string[]
}

/**
 * Reads each part of a configuration separately, so that a fault of one does not hide the others.
 * `found`: faults known before; `checks`: further checks, which throw ConfigError.
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
