import { ConfigError } from './config-error.ts'
import { type SettingGroup, type SettingTexts, settingLabel } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Sources of settings, in the order of precedence. */
export interface SettingSources {
  readonly flags: SettingTexts
  readonly env: Environment
  /** Values in the configuration file, unparsed. */
  readonly file: SettingTexts
}

export type SettingOrigin = 'flag' | 'variable' | 'file'

/** The given values of a group's settings, and the source of each. */
export interface GivenSettings {
  readonly texts: SettingTexts
  readonly origins: Readonly<Record<string, SettingOrigin>>
  /**
   * Faults: a forbidden blank value, or an unfilled placeholder. A setting whose value is a
   * placeholder is left out of `texts`.
   */
  readonly faults: readonly ConfigError[]
}

/**
 * Reads the given settings of a group. A flag takes precedence over its variable, a variable over
 * the configuration file. A blank text means not set: desktop clients and empty options of desktop
 * bundles produce blank texts.
 */
export function givenSettings(group: SettingGroup, sources: SettingSources): GivenSettings {
  const texts: Record<string, string> = {}
  const origins: Record<string, SettingOrigin> = {}
  const faults: ConfigError[] = []
  for (const [name, { variable, blankError }] of Object.entries(group)) {
    const given = textsOf(name, variable, sources)
    if (blankError && given.some(({ text }) => text === '')) {
      faults.push(new ConfigError(`${settingLabel(group, name)} ${blankError}`))
    }
    const first = given.find(({ text }) => text !== '')
    if (!first) continue
    if (/^\$\{.*\}$/.test(first.text)) {
      const where = first.origin === 'variable' ? variable : `--${name}`
      faults.push(
        new ConfigError(
          `${where} is ${first.text}: your client has not filled it in. Give the value itself.`,
        ),
      )
      continue
    }
    texts[name] = first.text
    origins[name] = first.origin
  }
  return { texts, origins, faults }
}

/** The values given for one setting, highest precedence first. */
export function textsOf(
  name: string,
  variable: string | undefined,
  { flags, env, file }: SettingSources,
): { readonly text: string; readonly origin: SettingOrigin }[] {
  const ofVariable = variable === undefined ? undefined : ownText(variable, env[variable])
  const all = { flag: flags[name], variable: ofVariable, file: file[name] }
  return Object.entries(all).flatMap(([origin, text]) =>
    text === undefined ? [] : [{ text: filledText(text), origin: origin as SettingOrigin }],
  )
}

/** The value of an environment variable; `undefined` if Kubernetes has set it. */
const ownText = (variable: string, text: string | undefined) =>
  text !== undefined && isServiceVariable(variable, text) ? undefined : text

/**
 * True if Kubernetes (or Docker, for links) has set the variable, for a Service such as
 * `voice-agent`: `VOICE_AGENT_SERVICE_HOST`, `VOICE_AGENT_PORT=tcp://10.0.0.1:3000`,
 * `VOICE_AGENT_PORT_3000_TCP_ADDR`. Only `…_PORT` can collide with a setting's name, and never with
 * its value.
 */
export const isServiceVariable = (name: string, text: string): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))

/**
 * Some clients keep the placeholder (`${user_config.…}`) of an empty option of a desktop bundle
 * (.mcpb). Such a placeholder means the same as an empty text.
 */
export const filledText = (text: string): string =>
  text.trim().replace(/^\$\{user_config\.[^{}]+\}$/, '')
