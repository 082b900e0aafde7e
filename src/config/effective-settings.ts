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
export const effectiveSettings = (
  group: SettingGroup,
  { texts, origins }: GivenSettings,
): EffectiveSetting[] =>
  Object.entries(group).flatMap(([name, setting]) => {
    const { variable } = setting
    if (variable === undefined) return []
    setting.parse(texts[name], settingLabel(group, name))
    return [
      {
        name,
        value: shownValue(setting, texts[name]),
        origin: origins[name] ?? 'default',
        variable,
      },
    ]
  })

function shownValue({ isSecret, json }: Setting, text: string | undefined): string | null {
  if (text === undefined) return json.default === undefined ? null : String(json.default)
  return isSecret ? masked : text
}
