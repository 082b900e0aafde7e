import { type Setting, type SettingGroup, settingLabel } from './setting.ts'
import type { GivenSettings, SettingOrigin } from './setting-texts.ts'

/** A setting as it is in effect. */
export interface EffectiveSetting {
  /** The name of its flag. */
  readonly name: string
  /** Its value as the text of a flag; `null`: it is not set, and `help` says what holds then. */
  readonly value: string | null
  /** Where the value comes from. */
  readonly origin: SettingOrigin | 'default'
  readonly variable: string
}

/** Shown instead of a secret. */
const masked = '(set, not shown)'

/**
 * Every setting that a configuration can hold, with its value and where that comes from. Throws
 * ConfigError where a value is not valid.
 */
export function effectiveSettings(group: SettingGroup, given: GivenSettings): EffectiveSetting[] {
  for (const [name, setting] of Object.entries(group)) {
    if (setting.variable !== undefined) setting.parse(given.texts[name], settingLabel(group, name))
  }
  return shownSettings(group, given)
}

/** The same, whether the values are valid or not. */
export const shownSettings = (
  group: SettingGroup,
  { texts, origins }: GivenSettings,
): EffectiveSetting[] =>
  Object.entries(group).flatMap(([name, setting]) => {
    const { variable } = setting
    if (variable === undefined) return []
    const value = shownValue(setting, texts[name])
    return [{ name, value, origin: origins[name] ?? 'default', variable }]
  })

/** Where a value comes from, as a person finds it. */
export const originText = ({ name, variable, origin }: EffectiveSetting, file = ''): string =>
  ({ flag: `--${name}`, variable, file, default: 'default' })[origin]

function shownValue({ isSecret, json }: Setting, text: string | undefined): string | null {
  if (text === undefined) return json.default === undefined ? null : String(json.default)
  return isSecret ? masked : text
}
