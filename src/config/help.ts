import { wrapped } from '../text/wrapped.ts'
import { allSettings, builtInCommands, type CommandSpec } from './command-line.ts'
import type { Setting } from './setting.ts'

/** What a setting does, and which values it takes. */
export const settingHelp = ({ help, range }: Setting): string =>
  range === '' ? help : `${help} ${range.charAt(0).toUpperCase()}${range.slice(1)}`

/**
 * Help for one command, or for the program if none is named. Lines are broken at `width` columns;
 * without it each option is one line.
 */
export function helpText(
  commands: readonly CommandSpec[],
  name: string | undefined,
  width?: number,
): string {
  const command = commands.find((one) => one.name === name)
  const settings = command?.settings ?? allSettings(commands)
  const options = Object.entries(settings).map(
    ([name, setting]): Row => [
      `--${name} ${setting.value}`.trimEnd(),
      setting.variable === undefined
        ? settingHelp(setting)
        : `${settingHelp(setting)} [${setting.variable}]`,
    ],
  )
  const parts: readonly Part[] = [
    ...(command ? commandUsage(command) : programUsage(commands)),
    [
      'Options:',
      ...options,
      ['-h, --help', 'Show this help.'],
      ['-v, --version', 'Show the version.'],
    ],
  ]
  return `${parts.map((part) => partText(part, width)).join('\n\n')}\n`
}

/** A part of the help: its lines, and rows of a table. */
type Part = readonly (string | Row)[]
type Row = readonly [name: string, meaning: string]

const programUsage = (commands: readonly CommandSpec[]): Part[] => [
  ['Usage: voice-agent-mcp [command] [options]'],
  [
    'An MCP server for a voice-agent platform. Without a key and an address it runs on a built-in sandbox.',
  ],
  [
    'Commands:',
    ...commands.map((one): Row => [one.name, one.about]),
    ...Object.entries(builtInCommands),
  ],
]

function commandUsage({ name, operands, about, examples = [] }: CommandSpec): Part[] {
  const words = ['voice-agent-mcp', name, operands, '[options]'].filter(Boolean)
  const shown = examples.map((example) => `  voice-agent-mcp ${example}`)
  return [
    [`Usage: ${words.join(' ')}`],
    [about],
    ...(shown.length > 0 ? [['Examples:', ...shown]] : []),
  ]
}

/** The least columns for a meaning beside its name; with fewer it begins on the next line. */
const leastMeaning = 32

function partText(part: Part, width = Number.POSITIVE_INFINITY): string {
  const names = part.flatMap((line) => (typeof line === 'string' ? [] : [line[0].length]))
  const indent = Math.max(0, ...names) + 4
  const isBeside = width - indent >= leastMeaning
  return part
    .flatMap((line) => {
      // Examples are commands to copy, which are not broken.
      if (typeof line === 'string') return line.startsWith(' ') ? [line] : wrapped(line, width)
      const [name, meaning] = line
      if (!isBeside)
        return [`  ${name}`, ...wrapped(meaning, width - 6).map((one) => `      ${one}`)]
      const [first = '', ...rest] = wrapped(meaning, width - indent)
      return [`  ${name}`.padEnd(indent) + first, ...rest.map((one) => ' '.repeat(indent) + one)]
    })
    .join('\n')
}
