import * as z from 'zod'
import { type Command, commands, type Setting, type SettingName, settings } from './settings.ts'

// Not imported: as a module, node:util loads all that it can lend, which takes a tenth of the start.
const { parseArgs } = process.getBuiltinModule('node:util')

/** The configuration cannot be used; the message says what to set. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The text of each setting that is set. */
export type Values = Partial<Record<SettingName, string>>

/** Reads the command line: the command, and the text of each flag. Throws ConfigError. */
export function readFlags(argv: readonly string[]) {
  const names = Object.keys(settings) as SettingName[]
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        ...Object.fromEntries(names.map((name) => [name, { type: typeOf(settings[name]) }])),
      },
    })
    const [given, ...rest] = positionals
    const isHelp = given === 'help'
    const named = isHelp ? rest.shift() : given
    const command = commands.find((known) => known === named)
    if (named !== undefined && !command) {
      throw new ConfigError(`There is no command ${named}; there are ${commands.join(', ')}.`)
    }
    if (rest.length > 0) throw new ConfigError(`Unexpected argument ${rest[0]}.`)
    const { help, version, ...flags } = values
    return {
      command,
      // A switch that is given is true.
      flags: z.record(z.string(), z.coerce.string()).parse(flags),
      wantsHelp: help === true || isHelp,
      wantsVersion: version === true,
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`${reason.split('. ')[0]}.`)
  }
}

const typeOf = ({ value }: Setting) => (value === '' ? 'boolean' : 'string')

/** A flag that another command takes would be ignored here, which nobody means. */
function refuseForeignFlags(flags: Record<string, string>, command: Command): void {
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    if (flags[name] === undefined || setting.commands.includes(command)) continue
    const where = setting.commands.join(' and ')
    throw new ConfigError(`--${name} is no option of ${command}, only of ${where}.`)
  }
}

/**
 * The text of every setting that is set, by flag or variable; empty means not set, as desktop
 * clients write it. Throws ConfigError.
 */
export function readValues(
  command: Command,
  flags: Record<string, string>,
  env: Environment,
): Values {
  refuseForeignFlags(flags, command)
  const values: Values = {}
  for (const [name, { variable }] of Object.entries(settings)) {
    const fromFlag = flags[name] !== undefined
    const text = (fromFlag ? flags[name] : env[variable])?.trim()
    if (!text) continue
    if (/^\$\{.*\}$/.test(text)) {
      const where = fromFlag ? `--${name}` : variable
      throw new ConfigError(`${where} is ${text}: your client has not filled it in.`)
    }
    values[name as SettingName] = text
  }
  return values
}
