import { allSettings, type CommandSpec, parseCommandLine } from '../../config/command-line.ts'
import { ConfigError } from '../../config/config-error.ts'
import { configFileSettings, readConfigFile } from '../../config/config-file.ts'
import type { SettingTexts } from '../../config/setting.ts'
import {
  type Environment,
  givenSettings,
  type OnFault,
  throwFault,
} from '../../config/setting-texts.ts'
import { audit } from './audit.ts'
import { call } from './call.ts'
import { completionOf } from './completion.ts'
import { config } from './config.ts'
import { doctor } from './doctor.ts'
import { http } from './http.ts'
import { install } from './install.ts'
import { sandbox } from './sandbox.ts'
import { stdio } from './stdio.ts'
import { tools } from './tools.ts'
import { uninstall } from './uninstall.ts'

/** The commands: to add one, write its file and its row here. */
const others = [
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
] as const

/** All commands: the others, and `completion`, which completes the command lines of all of them. */
export const commands = [...others, completionOf((): readonly CommandSpec[] => commands)] as const

const defaultCommand = stdio

/** The settings of all commands. */
export const settings = allSettings(commands)

/** What the program is asked to do. */
export type CommandConfig =
  | { command: 'help'; about: string | undefined }
  | { command: 'version' }
  | ReturnType<(typeof commands)[number]['configure']>

/** Reads command line, environment and configuration file, once. Throws ConfigError. */
export function readConfig(argv: readonly string[], env: Environment): CommandConfig {
  const { command, flags, operands, wantsHelp, wantsVersion } = parseCommandLine(
    argv,
    commands,
    defaultCommand,
  )
  if (wantsVersion) return { command: 'version' }
  if (wantsHelp) return { command: 'help', about: command?.name }
  const { settings: group, configure, readsDespiteFaults } = command ?? defaultCommand
  const faults: ConfigError[] = []
  const onFault = readsDespiteFaults ? (fault: ConfigError) => void faults.push(fault) : throwFault
  const { texts } = givenSettings(configFileSettings, { flags, env, file: {} }, onFault)
  const file = texts.config === undefined ? {} : textsOfFile(texts.config, onFault)
  const given = givenSettings(group, { flags, env, file }, onFault)
  return configure(given, env, operands, faults)
}

function textsOfFile(path: string, onFault: OnFault): SettingTexts {
  try {
    return readConfigFile(path, settings)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    onFault(error)
    return {}
  }
}
