import { ConfigError } from './config-error.ts'
import { type SettingGroup, type SettingTexts, settingLabel } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Where settings are given, the first winning over the others. */
export interface SettingSources {
  readonly flags: SettingTexts
  readonly env: Environment
  /** Of the configuration file. */
  readonly file: SettingTexts
}

/** Where the value of a setting comes from. */
export type SettingOrigin = 'flag' | 'variable' | 'file'

/** The settings of a group that are set. */
export interface GivenSettings {
  readonly texts: SettingTexts
  readonly origins: Readonly<Record<string, SettingOrigin>>
}

/** What is done about a fault of the configuration. */
export type OnFault = (fault: ConfigError) => void

/** The usual: nothing works with a configuration that is wrong. */
export const throwFault: OnFault = (fault) => {
  throw fault
}

/**
 * Every setting of a group that is set; a flag wins over its variable, and that over the
 * configuration file. A blank text means not set, because desktop clients write it so, and so does an
 * option of a desktop bundle that is left empty. A setting with a fault is left out, if `onFault`
 * returns.
 */
export function givenSettings(
  group: SettingGroup,
  sources: SettingSources,
  onFault: OnFault = throwFault,
): GivenSettings {
  const texts: Record<string, string> = {}
  const origins: Record<string, SettingOrigin> = {}
  for (const [name, { variable, blankError }] of Object.entries(group)) {
    const given = textsOf(name, variable, sources)
    if (blankError && given.some(({ text }) => text === '')) {
      onFault(new ConfigError(`${settingLabel(group, name)} ${blankError}`))
    }
    const first = given.find(({ text }) => text !== '')
    if (!first) continue
    if (/^\$\{.*\}$/.test(first.text)) {
      const where = first.origin === 'variable' ? variable : `--${name}`
      onFault(new ConfigError(`${where} is ${first.text}: your client has not filled it in.`))
      continue
    }
    texts[name] = first.text
    origins[name] = first.origin
  }
  return { texts, origins }
}

/** The texts of one setting, in the order in which they win. */
function textsOf(
  name: string,
  variable: string | undefined,
  { flags, env, file }: SettingSources,
): { readonly text: string; readonly origin: SettingOrigin }[] {
  const ofVariable = variable === undefined ? undefined : env[variable]
  const all = { flag: flags[name], variable: ofVariable, file: file[name] }
  return Object.entries(all).flatMap(([origin, text]) =>
    text === undefined ? [] : [{ text: filledText(text), origin: origin as SettingOrigin }],
  )
}

/**
 * Some clients put nothing in place of an option of a desktop bundle (.mcpb) that is left empty: its
 * placeholder, `${user_config.…}`, stays, and means the same as an empty text.
 */
export const filledText = (text: string): string =>
  text.trim().replace(/^\$\{user_config\.[^{}]+\}$/, '')
