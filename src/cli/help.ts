import { allSettings, builtInCommands, type CommandSpec } from './config/command-line.ts'
import { configFileSettings } from './config/config-file.ts'
import { httpSettings, listenSettings, metricsSettings, oauthSettings } from './config/http.ts'
import { commandLine } from './config/launch-command.ts'
import { platformSettings } from './config/platform.ts'
import { sandboxSettings } from './config/sandbox.ts'
import { callingSettings, logSettings, scopeSettings } from './config/service-settings.ts'
import { jsonSettings, type Setting, type SettingGroup, settingHelp } from './config/setting.ts'
import { auditSettings, stateSettings } from './config/state.ts'
import { type HelpPart, helpParts, type Row } from './terminal/terminal-io.ts'

interface HelpFor {
  /** Command that the help is about; `undefined`: the program. */
  readonly about: string | undefined
  /** If true, includes every option with values, default and variable. */
  readonly wantsAll: boolean
  /** Columns of the terminal. */
  readonly width: number | undefined
}

/** The help: on one screen, or with every option. */
export function helpText(
  commands: readonly CommandSpec[],
  { about, wantsAll, width }: HelpFor,
): string {
  const command = commands.find(({ name }) => name === about)
  const columns = wantsAll ? width : Math.min(width ?? maxColumns, maxColumns)
  const usage = command
    ? commandUsage(command, columns)
    : programUsage(commands, { wantsAll, width: columns })
  const options = wantsAll ? allOptions : fewOptions
  return `${helpParts([...usage, ...options(commands, command)], columns)}\n`
}

/** Maximum columns of the short help, also without a terminal. */
const maxColumns = 100

/** First steps of a user, in order: the command, two spaces, its purpose. */
const firstSteps = [
  'tools  List the tools, or show the arguments of one',
  'install  Add the server to the MCP clients on this machine',
  'doctor  Find out what does not work, and what to do',
  'help COMMAND  Show the options of a command; help all shows everything',
]

function programUsage(
  commands: readonly CommandSpec[],
  { wantsAll, width }: Pick<HelpFor, 'wantsAll' | 'width'>,
): HelpPart[] {
  const usage = [
    `Usage: ${commandLine('[COMMAND] [OPTIONS]')}`,
    'An MCP server for a voice-agent platform. Without a key and an address: a sandbox.',
  ]
  const row = ({ name, about }: CommandSpec): Row => [name, wantsAll ? about : brief(about)]
  if (wantsAll)
    return [usage, ['Commands:', ...commands.map(row), ...Object.entries(builtInCommands)]]
  const others = commands.filter(
    ({ name }) => !firstSteps.some((step) => step.startsWith(`${name} `)),
  )
  return [
    usage,
    ['First steps:', ...exampleLines(firstSteps, width)],
    ['Other commands:', ...others.map(row)],
  ]
}

function commandUsage(
  { name, operands, about, examples = [], readsRest }: CommandSpec,
  width: number | undefined,
): HelpPart[] {
  const words = readsRest ? [name, '[options]', operands] : [name, operands, '[options]']
  return [
    [`Usage: ${commandLine(words.filter(Boolean).join(' '))}`, about],
    ...(examples.length > 0 ? [['Examples:', ...exampleLines(examples, width)]] : []),
  ]
}

/**
 * Example commands. The purpose of each is beside it or, if the line would be too long, before it.
 */
function exampleLines(
  examples: readonly string[],
  width = Number.POSITIVE_INFINITY,
): readonly string[] {
  // Two spaces separate an example from its purpose.
  const rows = examples.map((example) => {
    const [words = '', meaning = ''] = example.split(/ {2,}/)
    return { command: `  ${commandLine(words)}`, meaning }
  })
  const longest = Math.max(...rows.map(({ command, meaning }) => (meaning ? command.length : 0)))
  const beside = rows.map(({ command, meaning }) =>
    meaning === '' ? command : `${command.padEnd(longest)}  # ${meaning}`,
  )
  const isBeside = rows.every(({ meaning }, at) => !meaning || (beside[at] ?? '').length <= width)
  return rows.flatMap(({ command, meaning }, at) => {
    if (isBeside && meaning) return beside[at] ?? ''
    return [...(meaning ? [`  # ${meaning}`] : []), ...brokenCommand(command, width)]
  })
}

/** Breaks a command into lines with POSIX continuations. */
function brokenCommand(command: string, width: number): string[] {
  const lines = ['  ']
  for (const [word] of command.matchAll(/(?:'[^']*'|\S)+/g)) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length + 2 <= width || line.trim() === '')
      lines[lines.length - 1] = `${line}${word} `
    else lines.push(`    ${word} `)
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line}\\` : line.trimEnd()))
}

/** Options that most people need. */
const common: readonly string[] = [
  ...['base-url', 'api-key', 'account', 'toolsets', 'read-only', 'confirm', 'dial-policy'],
  ...['host', 'port', 'allowed-hosts', 'config'],
]

/** Maximum number of options in the short help. */
const maxShown = 12

/** The options of the short help. */
function fewOptions(
  commands: readonly CommandSpec[],
  command: CommandSpec | undefined,
): HelpPart[] {
  if (!command) {
    const rows = ['base-url', 'api-key', 'read-only', 'config'].map(briefRow(allSettings(commands)))
    return [['Options:', ...rows]]
  }
  const all = Object.keys(command.settings)
  const needed = all.filter((name) => common.includes(name) || !shared.has(name))
  const shown = all.length <= maxShown ? all : needed
  return [
    ['Options:', ...shown.map(briefRow(command.settings))],
    [
      'Every option, with values, defaults and variables:',
      `  ${commandLine(`${command.name} --help all`)}`,
    ],
  ]
}

/** Every option of a command, or of all commands, in groups. */
function allOptions(
  commands: readonly CommandSpec[],
  command: CommandSpec | undefined,
): HelpPart[] {
  const settings = command?.settings ?? allSettings(commands)
  const groups = settingGroups(command ? [command] : commands)
  return [
    ...groups.map(({ title, names }) => [`${title}:`, ...names.map(fullRow(settings))]),
    ['Help:', ['-h, --help', 'Show the help.'], ['-v, --version', 'Show the version.']],
  ]
}

/** The names of all settings that these commands take, in groups with a title. */
export function settingGroups(
  commands: readonly CommandSpec[],
): { readonly title: string; readonly names: readonly string[] }[] {
  const settings = allSettings(commands)
  const own = Object.groupBy(
    Object.keys(settings).filter((name) => !shared.has(name)),
    (name) =>
      `Options of ${commands.flatMap((one) => (name in one.settings ? one.name : [])).join(', ')}`,
  )
  const groups: Readonly<Record<string, readonly string[] | undefined>> = {
    ...sharedGroups,
    ...own,
  }
  return Object.entries(groups)
    .map(([title, names = []]) => ({
      title,
      names: names.filter((name) => Object.hasOwn(settings, name)),
    }))
    .filter(({ names }) => names.length > 0)
}

/** Options that several commands take. */
const sharedGroups: Readonly<Record<string, readonly string[]>> = {
  Platform: Object.keys(platformSettings),
  'What assistants can use': Object.keys(scopeSettings),
  'Calls and confirmation': Object.keys(callingSettings),
  'State and audit trail': Object.keys({ ...stateSettings, ...auditSettings }),
  Address: Object.keys(listenSettings),
  'HTTP clients': Object.keys(httpSettings),
  OAuth: Object.keys(oauthSettings),
  Metrics: Object.keys(metricsSettings),
  Sandbox: Object.keys(sandboxSettings),
  Output: Object.keys({ ...jsonSettings, ...logSettings }),
  'Settings in a file': Object.keys(configFileSettings),
}

const shared: ReadonlySet<string> = new Set(Object.values(sharedGroups).flat())

const usageOf = (name: string, setting: Setting | undefined) =>
  `--${name} ${setting?.value ?? ''}`.trimEnd()

/**
 * The beginning of a text, short enough for one line: up to a period, a semicolon, or a colon after
 * a few words.
 */
const brief = (text: string): string =>
  /^.*?(?=[.;] |\.$|(?<=\S+ \S+ \S+): |$)/s.exec(text)?.[0] ?? text

const briefRow =
  (settings: SettingGroup) =>
  (name: string): Row => [usageOf(name, settings[name]), brief(settings[name]?.help ?? '')]

const fullRow =
  (settings: SettingGroup) =>
  (name: string): Row => {
    const setting = settings[name]
    const variable = setting?.variable === undefined ? '' : ` [${setting.variable}]`
    return [usageOf(name, setting), setting ? settingHelp(setting) + variable : '']
  }
