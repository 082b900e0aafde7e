import { allSettings, type CommandSpec } from './command-line.ts'
import type { Setting } from './setting.ts'

/** What a setting does, and which values it takes. */
export const settingHelp = ({ help, range }: Setting): string =>
  range === '' ? help : `${help} ${range.charAt(0).toUpperCase()}${range.slice(1)}`

/** Help for one command, or for the program if none is named. */
export function helpText(commands: readonly CommandSpec[], name: string | undefined): string {
  const command = commands.find((one) => one.name === name)
  const settings = command?.settings ?? allSettings(commands)
  const options = Object.entries(settings).map(
    ([name, setting]): Row => [
      `  --${name} ${setting.value}`.trimEnd(),
      setting.variable === undefined
        ? settingHelp(setting)
        : `${settingHelp(setting)} [${setting.variable}]`,
    ],
  )
  const usage = command
    ? commandUsage(command)
    : `Usage: voice-agent-mcp [command] [options]

An MCP server for a voice-agent platform. Without a key and an address it runs on a built-in sandbox.

Commands:
${table(commands.map((one): Row => [`  ${one.name}`, one.about]))}`
  return `${usage}

Options:
${table([...options, ['  -h, --help', 'Show this help.'], ['  -v, --version', 'Show the version.']])}
`
}

function commandUsage({ name, operands, about, examples }: CommandSpec): string {
  const words = ['voice-agent-mcp', name, operands, '[options]'].filter(Boolean)
  const lines = (examples ?? []).map((example) => `  voice-agent-mcp ${example}`)
  const shown = lines.length > 0 ? `\n\nExamples:\n${lines.join('\n')}` : ''
  return `Usage: ${words.join(' ')}\n\n${about}${shown}`
}

type Row = readonly [name: string, meaning: string]

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return rows.map(([name, meaning]) => `${name.padEnd(width)}${meaning}`).join('\n')
}
