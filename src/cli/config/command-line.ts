import { closestWord } from '../../text/closest-match.ts'
import { messageOf } from '../../text/safe-text.ts'
import { CommandLineError } from './config-error.ts'
import { commandLine } from './launch-command.ts'
import type { SettingGroup, SettingTexts } from './setting.ts'

// Not imported: importing node:util loads all its exports, a tenth of the start time.
const { parseArgs } = process.getBuiltinModule('node:util')

/** The parts of a command that its command line and help need. */
export interface CommandSpec {
  readonly name: string
  /** Summary, one line. */
  readonly about: string
  readonly settings: SettingGroup
  /** Operands of the command as the help shows them, such as `[CLIENT…]`; absent: none. */
  readonly operands?: string
  /** If true, the command parses all words after its first operand itself, including flags. */
  readonly readsRest?: boolean
  /** Command lines for the help, without the name of the program. */
  readonly examples?: readonly string[]
}

export interface CommandLine<C extends CommandSpec> {
  /** `undefined`: the command line names no command. */
  readonly command: C | undefined
  /** Value of each given flag, unparsed; `true` for a switch. */
  readonly flags: SettingTexts
  /** Words after the command, without flags. */
  readonly operands: readonly string[]
  readonly wantsHelp: boolean
  /** True for `--help all`: the help lists every option. */
  readonly wantsAll: boolean
  readonly wantsVersion: boolean
}

/** Reads the command line. Throws CommandLineError. */
export function parseCommandLine<C extends CommandSpec>(
  argv: readonly string[],
  commands: readonly C[],
  defaultCommand: CommandSpec,
): CommandLine<C> {
  const { read, rest: ownWords } = withoutRest(argv, commands)
  const { values, positionals } = parsed(read, commands)
  const { help, version, ...others } = values
  const wantsHelp = help === true || positionals[0] === 'help'
  const words = wantsHelp ? withoutHelp(positionals) : positionals
  const [named, ...rest] = words
  const command = commands.find(({ name }) => name === named)
  const isBuiltIn = named !== undefined && Object.hasOwn(builtInCommands, named)
  if (named !== undefined && !command && !isBuiltIn) throw unknownCommand(named, commands)
  const ofTool = command?.operands?.includes('TOOL')
  if (rest.length > 0 && (positionals[0] === 'help' ? !ofTool : command?.operands === undefined)) {
    throw new CommandLineError(`Unexpected argument ${rest[0]}.`)
  }
  const flags = Object.fromEntries(
    Object.entries(others).map(([name, value]) => [name, String(value)]),
  )
  const line = {
    command,
    flags,
    operands: [...rest, ...ownWords],
    wantsHelp,
    wantsAll: wantsHelp && positionals.includes(allWord),
    wantsVersion: version === true || positionals[0] === 'version',
  }
  if (!line.wantsHelp && !line.wantsVersion) {
    refuseForeignFlags(flags, command ?? defaultCommand, commands)
  }
  return line
}

/** Operand with which the help lists every option: `help all`, `--help all`. */
export const allWord = 'all'

const withoutHelp = (positionals: readonly string[]): string[] =>
  positionals.filter((word, at) => word !== allWord && !(at === 0 && word === 'help'))

/** Built-in commands with their summaries. */
export const builtInCommands = {
  help: 'Show the help of a command or of a tool.',
  version: 'Show the version.',
} as const

export const allSettings = (commands: readonly CommandSpec[]): SettingGroup =>
  Object.assign({}, ...commands.map(({ settings }) => settings))

/**
 * Splits a command line after the first operand, if the command reads the remaining words itself.
 */
function withoutRest(argv: readonly string[], commands: readonly CommandSpec[]) {
  const names = commands.flatMap(({ name, readsRest }) => (readsRest ? [name] : []))
  if (!names.some((name) => argv.includes(name))) return { read: argv, rest: [] }
  const options = optionsOf(commands)
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const [command, operand] = tokens.filter((token) => token.kind === 'positional')
  if (!operand || !names.some((name) => name === command?.value)) return { read: argv, rest: [] }
  return { read: argv.slice(0, operand.index + 1), rest: argv.slice(operand.index + 1) }
}

function optionsOf(commands: readonly CommandSpec[]) {
  const options = Object.entries(allSettings(commands)).map(([name, { value }]) => {
    const type: 'boolean' | 'string' = value === '' ? 'boolean' : 'string'
    return [name, { type }] as const
  })
  return {
    ...Object.fromEntries(options),
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const
}

function parsed(argv: readonly string[], commands: readonly CommandSpec[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: optionsOf(commands) })
  } catch (error) {
    // Keeps the first sentence, which names the flag. The rest is about parseArgs itself.
    const first = `${messageOf(error).split('. ')[0]?.replace(/\.$/, '')}.`
    throw new CommandLineError(first + flagMeant(first, argv, commands))
  }
}

const sharedFlags = ['help', 'version']

/**
 * Hint for an unknown flag: the closest flag of the named command, else the closest of any command.
 */
function flagMeant(
  message: string,
  argv: readonly string[],
  commands: readonly CommandSpec[],
): string {
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? []
  if (unknown === undefined) return ''
  const named = commands.find(({ name }) => argv.includes(name))
  const groups = [...(named ? [named.settings] : []), allSettings(commands)]
  const place = placeOfFlags(named)
  const meant = groups
    .map((group) => closestWord(unknown, [...Object.keys(group), ...sharedFlags]))
    .find((name) => name !== undefined)
  return (meant === undefined ? '' : ` Did you mean --${meant}?`) + place
}

/** Where a tool's arguments go, for the command that takes them. Empty for other commands. */
const placeOfFlags = (command: CommandSpec | undefined): string =>
  command?.operands?.includes('--')
    ? ` Write the tool's arguments after its name: ${commandLine(`${command.name} ${command.operands}`)}.`
    : ''

function unknownCommand(named: string, commands: readonly CommandSpec[]): CommandLineError {
  const names = [...commands.map(({ name }) => name), ...Object.keys(builtInCommands)]
  const meant = closestWord(named, names)
  // Tool names have underscores, command names have none.
  const ofTool = /^[a-z]+(_[a-z]+)+$/.test(named)
  const toolHint = ofTool ? ` To call it: ${commandLine(`call ${named}`)}.` : ''
  const hint = meant === undefined ? toolHint : ` Did you mean ${meant}?`
  return new CommandLineError(`There is no command ${named}; there are ${names.join(', ')}.${hint}`)
}

/** A flag of another command would have no effect, so it is refused. */
function refuseForeignFlags(
  flags: SettingTexts,
  command: CommandSpec,
  commands: readonly CommandSpec[],
): void {
  for (const name of Object.keys(flags)) {
    if (name in command.settings) continue
    const others = commands.filter(({ settings }) => name in settings).map((other) => other.name)
    throw new CommandLineError(
      `--${name} is not an option of ${command.name}, only of ${others.join(' and ')}.${placeOfFlags(command)}`,
    )
  }
}
