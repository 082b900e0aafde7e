import { isMisspelt } from '../../text/closest-match.ts'
import { ConfigError } from './config-error.ts'
import { filledText, isServiceVariable, type SettingSources, textsOf } from './given-settings.ts'
import type { SettingGroup } from './setting.ts'

/** Environment variables that look like settings of this program. */
interface MisspeltVariables {
  /** Names that are probably misspelt settings: the server must not start without their values. */
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
export function misspeltVariables(
  settings: SettingGroup,
  sources: SettingSources,
): MisspeltVariables {
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
