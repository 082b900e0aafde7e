import { ConfigError } from './config-error.ts'
import { type SettingGroup, type SettingTexts, settingLabel } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The text of every setting of a group that is set, by flag or variable; a flag wins over its
 * variable. A blank text means not set, because desktop clients write it so. Throws ConfigError.
 */
export function settingTexts(
  group: SettingGroup,
  flags: SettingTexts,
  env: Environment,
): SettingTexts {
  const texts: Record<string, string> = {}
  for (const [name, { variable, blankError }] of Object.entries(group)) {
    const given = flags[name] ?? env[variable]
    const text = given?.trim()
    if (given !== undefined && !text && blankError) {
      throw new ConfigError(`${settingLabel(group, name)} ${blankError}`)
    }
    if (!text) continue
    if (/^\$\{.*\}$/.test(text)) {
      const where = flags[name] === undefined ? variable : `--${name}`
      throw new ConfigError(`${where} is ${text}: your client has not filled it in.`)
    }
    texts[name] = text
  }
  return texts
}
