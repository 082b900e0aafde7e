import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { messageOf } from '../text/safe-text.ts'

/** A number, at least `min`. */
interface Bounded {
  readonly usual: number
  readonly min: number
}

type Options = Readonly<Record<string, string | number | boolean | Bounded | undefined>>

type Flags<Given extends Options> = {
  readonly [Name in keyof Given]: Given[Name] extends boolean
    ? boolean
    : Given[Name] extends number | Bounded
      ? number
      : Given[Name] extends string
        ? string
        : string | undefined
}

/** The parsed command line of a script. */
interface Script<Given extends Options> {
  readonly flags: Flags<Given>
  readonly positionals: readonly string[]
  /** Prints the reason and the usage, and exits with code 2. */
  refuse(why: string): never
  /** Parses a number; refuses an invalid one or one below `min`. */
  number(flag: string, text: string, min?: number): number
}

/**
 * Parses a script's command line. `options`: default of each option. A given value must have the
 * type of the default. A number must not be negative. `--help` only prints the usage.
 */
export function readScript<Given extends Options>(
  usage: string,
  options: Given,
  { allowPositionals = false } = {},
): Script<Given> {
  function refuse(why: string): never {
    process.stderr.write(`${why}\n\n${usage}`)
    process.exit(2)
  }
  const number = (name: string, text: string, min = 0): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    return value >= min ? value : refuse(`--${name} is a number from ${min} up.`)
  }
  const known: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const [name, usual] of Object.entries(options))
    known[name] = { type: typeof usual === 'boolean' ? 'boolean' : 'string' }
  const read = () => {
    try {
      return parseArgs({ allowPositionals, options: known })
    } catch (error) {
      return refuse(messageOf(error))
    }
  }
  const { values, positionals } = read()
  if (values.help) {
    process.stdout.write(usage)
    process.exit(0)
  }
  const flags = Object.entries(options).map(([name, option]) => {
    const { usual, min } = typeof option === 'object' ? option : { usual: option, min: 0 }
    const given = values[name]
    if (given === undefined) return [name, usual]
    return [name, typeof usual === 'number' ? number(name, String(given), min) : given]
  })
  return { flags: Object.fromEntries(flags) as Flags<Given>, positionals, refuse, number }
}
