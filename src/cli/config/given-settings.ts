import { isMisspelt } from '../../text/closest-match.ts'
import { ConfigError } from './config-error.ts'
import { type SettingGroup, type SettingTexts, settingLabel } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Sources of settings, in the order of precedence. */
interface SettingSources {
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
  /** Faults of settings, which are left out. */
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
function textsOf(
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
const isServiceVariable = (name: string, text: string): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))

/**
 * Some clients keep the placeholder (`${user_config.…}`) of an empty option of a desktop bundle
 * (.mcpb). Such a placeholder means the same as an empty text.
 */
export const filledText = (text: string): string =>
  text.trim().replace(/^\$\{user_config\.[^{}]+\}$/, '')

/** Environment variables that look like settings of this program. */
interface UnknownVariables {
  /**
   * Names that are probably a misspelt restriction or API key. Starting without that setting would
   * be unsafe.
   */
  readonly refused: readonly ConfigError[]
  /** Other unknown `VOICE_AGENT_` names, which have no effect. */
  readonly ignored: readonly string[]
}

/**
 * Finds misspelt environment variables. Three kinds are refused:
 * - a near miss of a setting: `VOICE_AGENT_READONLY`, `VOICE_AGENT_MCP_READ_ONLY`;
 * - a name that contains a restricting setting: `VOICE_AGENT_READ_ONLY_MODE`;
 * - a name that resembles the API key or base URL if that setting is missing (`VOICE_AGENT_TOKEN`),
 *   because the sandbox would start instead.
 *
 * Other unknown `VOICE_AGENT_` names are reported. Blank variables and those that Kubernetes injects
 * for services are ignored. Error messages never contain values.
 */
export function unknownVariables(
  settings: SettingGroup,
  sources: SettingSources,
): UnknownVariables {
  const known = Object.values(settings).flatMap(({ variable }) => variable ?? [])
  const limiting = variablesThatLimit(settings)
  const missing = lookalikes.filter(({ setting, variable }) =>
    textsOf(setting, variable, sources).every(({ text }) => text === ''),
  )
  const refused: ConfigError[] = []
  const ignored: string[] = []
  for (const [given, text = ''] of Object.entries(sources.env)) {
    // On Windows, the names of environment variables are case-insensitive.
    const name = process.platform === 'win32' ? given.toUpperCase() : given
    if (!resembling.test(name) || known.includes(name)) continue
    if (filledText(text) === '' || isServiceVariable(name, text)) continue
    const meant =
      known.find((variable) => isNearMiss(name, variable)) ??
      limiting.find((variable) => holdsName(name, variable)) ??
      missing.find(({ words }) => ours.test(name) && words.test(name))?.variable
    if (meant !== undefined) {
      refused.push(
        new ConfigError(
          `${given} is not a setting. Did you mean ${meant}? Rename ${given}, or unset it.`,
        ),
      )
    } else if (ours.test(name)) ignored.push(given)
  }
  return { refused, ignored }
}

const prefix = 'VOICE_AGENT_'
const ours = /^VOICE_?AGENTS?_/i
/** Variables that are compared with settings. All other variables belong to other programs. */
const resembling = /voice|agent/i

/**
 * Compares names without the common prefix, unless the prefix is misspelt. The program's whole
 * name, VOICE_AGENT_MCP, also counts as the prefix.
 */
function isNearMiss(name: string, variable: string): boolean {
  if (!name.startsWith(prefix)) return isMisspelt(name, variable)
  const [given, right] = [name.slice(prefix.length), variable.slice(prefix.length)]
  return isMisspelt(given, right) || isMisspelt(given.replace(/^MCP_/, ''), right)
}

/** Settings that restrict the server. All `max-…` settings restrict it also. */
const limits = [
  ...['read-only', 'toolsets', 'tools', 'exclude-tools', 'account'],
  ...['confirm', 'dial-policy', 'allowed-hosts', 'allowed-origins', 'audit-failure'],
]

/** Variables of the restricting settings. Longest first: `EXCLUDE_TOOLS` contains `TOOLS`. */
const variablesThatLimit = (settings: SettingGroup): readonly string[] =>
  Object.entries(settings)
    .flatMap(([name, { variable }]) =>
      limits.includes(name) || name.startsWith('max-') ? (variable ?? []) : [],
    )
    .toSorted((one, other) => other.length - one.length)

/** True if consecutive words of a name form a setting's name: `READ_ONLY` or `READONLY`. */
function holdsName(name: string, variable: string): boolean {
  if (!ours.test(name)) return false
  const words = name.replace(ours, '').toUpperCase().split('_')
  const right = variable.slice(prefix.length).replaceAll('_', '')
  return words.some((_, start) =>
    words.some((_, end) => words.slice(start, end + 1).join('') === right),
  )
}

/** Settings without which the sandbox starts, each with the words that reveal a misspelt name. */
const lookalikes = [
  {
    setting: 'api-key',
    variable: 'VOICE_AGENT_API_KEY',
    words: /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i,
  },
  { setting: 'base-url', variable: 'VOICE_AGENT_BASE_URL', words: /URL|ENDPOINT/i },
] as const
