import { type LogOptions, logForms, logLevels } from '../../server/observe/log.ts'
import { callingConfig, callingSettings } from './calling.ts'
import { type ConfigError, faultsOf, readAll, readable } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import { platformConfig, platformSettings, sandboxSettings } from './platform.ts'
import { scopeConfig, scopeSettings } from './scope.ts'
import {
  choice,
  optionalChoice,
  type SettingTexts,
  settingReader,
  withVariables,
} from './setting.ts'
import { auditConfig, auditSettings, stateConfig, stateSettings } from './state.ts'

export const logSettings = withVariables({
  log: choice({
    value: 'FORM',
    help: 'Form of the log on standard error. text: lines for people; json: one JSON object a line, for programs; off: no log.',
    choices: logForms,
    default: 'text',
  }),
  'log-level': optionalChoice({
    value: 'LEVEL',
    help: 'What the log holds. error: defects and broken connections; warn: also warnings; notice: also start, stop and connecting clients; info: also one line for each request and each refused HTTP request; debug: also messages of errors, which may hold texts of clients.',
    choices: logLevels,
    range: 'Default notice; info with --log json.',
  }),
})

export function logConfig(texts: SettingTexts): LogOptions {
  const value = settingReader(logSettings, texts)
  const form = value('log')
  return { form, level: value('log-level') ?? (form === 'json' ? 'info' : 'notice') }
}

/** Service configuration, the same over stdio and HTTP. */
export type ServiceConfig = ReturnType<typeof serviceConfig>

export const serviceSettings = {
  ...platformSettings,
  ...scopeSettings,
  ...callingSettings,
  ...stateSettings,
  ...auditSettings,
  ...sandboxSettings,
  ...logSettings,
}

const serviceParts = (texts: SettingTexts, env: Environment, options: { needsKey: boolean }) => ({
  platform: () => platformConfig(texts, env, options),
  scope: () => scopeConfig(texts),
  calling: () => callingConfig(texts),
  state: () => stateConfig(texts),
  audit: () => auditConfig(texts, stateConfig(texts)),
  log: () => logConfig(texts),
})

/** Throws ConfigError, with the faults of all parts. */
export const serviceConfig = (...given: Parameters<typeof serviceParts>) =>
  readAll(serviceParts(...given))

/** Parts of a configuration; an invalid one is absent. */
export type UsableConfig = ReturnType<typeof usableConfig>

/**
 * Reads each part of a configuration separately, so that a fault of one does not hide the others.
 * `found`: faults known before; `checks`: further checks, which throw ConfigError.
 */
export function usableConfig(
  texts: SettingTexts,
  env: Environment,
  found: readonly ConfigError[],
  checks: readonly (() => unknown)[],
) {
  const { parts, faults } = readable(serviceParts(texts, env, { needsKey: false }))
  const all = [...found.map(({ message }) => message), ...faults, ...faultsOf(checks)]
  return { ...parts, faults: [...new Set(all)] }
}
