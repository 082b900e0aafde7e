import { allSettings, builtInCommands, type CommandSpec } from './command-line.ts'
import type { Environment } from './given-settings.ts'
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
  const parts: readonly HelpPart[] = [
    ...(command ? commandUsage(command) : programUsage(commands)),
    [
      'Options:',
      ...options,
      ['-h, --help', 'Show this help.'],
      ['-v, --version', 'Show the version.'],
    ],
    ...(command ? [] : [firstSteps]),
  ]
  return `${helpParts(parts, width)}\n`
}

/** Parts of a help, with an empty line between them; see `helpText` for `width`. */
export const helpParts = (parts: readonly HelpPart[], width?: number): string =>
  parts.map((part) => partText(part, width)).join('\n\n')

/** A part of the help: its lines, and rows of a table. */
export type HelpPart = readonly (string | Row)[]
type Row = readonly [name: string, meaning: string]

/** At the end, because a terminal shows the end of a long text. */
const firstSteps: HelpPart = [
  'First steps:',
  ['voice-agent-mcp tools', 'what it can do, on the sandbox without a key'],
  ['voice-agent-mcp install', 'add it to the MCP clients on this machine'],
  ['voice-agent-mcp doctor', 'find out what does not work, and what to do'],
  ['voice-agent-mcp help COMMAND', 'the options of one command, with examples'],
]

const programUsage = (commands: readonly CommandSpec[]): HelpPart[] => [
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

function commandUsage({ name, operands, about, examples = [] }: CommandSpec): HelpPart[] {
  const words = ['voice-agent-mcp', name, operands, '[options]'].filter(Boolean)
  const shown = examples.map((example) => `  voice-agent-mcp ${example}`)
  return [
    [`Usage: ${words.join(' ')}`],
    [about],
    ...(shown.length > 0 ? [['Examples:', ...shown]] : []),
  ]
}

/** The columns that a meaning needs beside its name; with fewer it begins on the next line. */
const minMeaningWidth = 32

/** The longest name that has its meaning beside it; a longer one has it below. */
const longestBeside = 34

function partText(part: HelpPart, width = Number.POSITIVE_INFINITY): string {
  const names = part.flatMap((line) => (typeof line === 'string' ? [] : [line[0].length]))
  const indent = Math.min(longestBeside, Math.max(0, ...names)) + 4
  const isBeside = width - indent >= minMeaningWidth
  return part
    .flatMap((line) => {
      // Examples are commands to copy: their lines are not wrapped.
      if (typeof line === 'string') return line.startsWith(' ') ? [line] : wrapped(line, width)
      const [name, meaning] = line
      if (!isBeside)
        return [`  ${name}`, ...wrapped(meaning, width - 6).map((one) => `      ${one}`)]
      const beside = wrapped(meaning, width - indent).map((one) => ' '.repeat(indent) + one)
      const [first = '', ...rest] = beside
      return name.length > longestBeside
        ? [`  ${name}`, ...beside]
        : [`  ${name}`.padEnd(indent) + first.slice(indent), ...rest]
    })
    .join('\n')
}

/** A text as lines of at most `width` columns, broken between words; a longer word has its own line. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/**
 * Columns of the terminal that text is printed on; `undefined`: it is none, and lines are not broken.
 * A program that shows the text to a person may declare its own columns in COLUMNS.
 */
export function textWidth({ COLUMNS }: Environment): number | undefined {
  const declared = Number(COLUMNS)
  // A terminal that does not know its size says 0.
  return (
    process.stdout.columns || (Number.isInteger(declared) && declared > 0 ? declared : undefined)
  )
}
