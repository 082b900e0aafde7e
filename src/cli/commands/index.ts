import { allSettings, type CommandLine, parseCommandLine } from '../config/command-line.ts'
import { ConfigError, faultsOf, throwFaults } from '../config/config-error.ts'
import { configFileSettings, readConfigFile } from '../config/config-file.ts'
import { type Environment, givenSettings } from '../config/given-settings.ts'
import { misspeltVariables } from '../config/misspelt-variables.ts'
import type { SettingGroup } from '../config/setting.ts'
import { audit } from './audit.ts'
import { call } from './call.ts'
import { calls } from './calls.ts'
import { completion } from './completion.ts'
import { config } from './config.ts'
import { doctor } from './doctor.ts'
import { http } from './http.ts'
import { install, uninstall } from './install.ts'
import { sandbox } from './sandbox.ts'
import { stdio } from './stdio.ts'
import { tools } from './tools.ts'

/** All commands. To add a command, write its file and add a row here. */
export const commands = [
  stdio,
  http,
  sandbox,
  config,
  audit,
  doctor,
  install,
  uninstall,
  tools,
  call,
  calls,
  completion,
] as const

const defaultCommand = stdio

export const settings = allSettings(commands)

type Command = (typeof commands)[number]

export type CommandConfig =
  | { command: 'help'; about: string | undefined; wantsAll: boolean }
  | { command: 'version' }
  | ReturnType<Command['configure']>

/** Reads command line, environment and configuration file, once. Throws ConfigError. */
export function readConfig(argv: readonly string[], env: Environment): CommandConfig {
  const line = parseCommandLine(argv, commands, defaultCommand)
  const { command, operands, wantsHelp, wantsAll, wantsVersion } = line
  if (wantsVersion) return { command: 'version' }
  // The `tools` command prints a tool's help, also for `call TOOL --help`.
  const isOfTool = wantsHelp && operands.length > 0 && (command === call || command === tools)
  if (wantsHelp && !isOfTool) return { command: 'help', about: command?.name, wantsAll }
  return configured(isOfTool ? tools : (command ?? defaultCommand), line, env)
}

/** Reads the settings of a command. Throws ConfigError. */
function configured(
  { settings: group, configure, readsDespiteFaults }: Command,
  { flags, operands }: CommandLine<Command>,
  env: Environment,
): ReturnType<Command['configure']> {
  const faults: ConfigError[] = []
  /** Keeps faults for a command that reads despite them. Else throws the first one. */
  const report = (found: readonly ConfigError[]) => {
    const [first] = found
    if (first && !readsDespiteFaults) throw first
    faults.push(...found)
  }
  const named = givenSettings(configFileSettings, { flags, env, file: {} })
  report(named.faults)
  const file = fileSettings(named.texts.config, report)
  faults.push(...file.faults)
  const sources = { flags, env, file: file.texts }
  const unknown = takesVariables(group) ? misspeltVariables(settings, sources) : noVariables
  report(unknown.refused)
  const warnings = unknown.ignored.map((name) => `${name} is not a setting, and has no effect.`)
  const config = () => {
    const given = givenSettings(group, sources)
    report(given.faults)
    return configure({ ...given, commands, env, operands, faults, warnings })
  }
  // An invalid configuration file is refused with all faults, including those of flags and
  // variables.
  if (!readsDespiteFaults && faults.length > 0)
    throwFaults([...faults.map(({ message }) => message), ...faultsOf([config])])
  return config()
}

/** True if a setting of the group, other than `config`, has an environment variable. */
const takesVariables = (group: SettingGroup) =>
  Object.entries(group).some(
    ([name, { variable }]) => variable !== undefined && !Object.hasOwn(configFileSettings, name),
  )

const noVariables = { refused: [], ignored: [] }

/** Reads a configuration file. A file that cannot be used is reported, and counts as empty. */
function fileSettings(
  path: string | undefined,
  report: (faults: readonly ConfigError[]) => void,
): ReturnType<typeof readConfigFile> {
  try {
    if (path !== undefined) return readConfigFile(path, settings)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    report([error])
  }
  return { texts: {}, faults: [] }
}
