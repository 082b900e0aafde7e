import type { HelpPart } from '../../config/help.ts'
import type { Tool } from '../../mcp/call/tool.ts'
import { argumentRows } from './argument-rows.ts'
import { exampleCommand } from './example-command.ts'
import type { Terminal } from './terminal.ts'
import { ownFlags } from './tool-arguments.ts'

/** How a tool is called, in one line: with what it needs. */
export function usageLine({ name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>): string {
  const rows = argumentRows(inputSchema(), { pinned: false })
  const required = rows.filter(({ isRequired }) => isRequired).map(({ usage }) => usage)
  const rest = rows.length > required.length ? ['[--argument value …]'] : []
  return ['Usage: voice-agent-mcp call', name, ...required, ...rest].join(' ')
}

interface HelpFor {
  readonly terminal: Pick<Terminal, 'layOut'>
  /** The account that the operator has pinned. */
  readonly account: string | undefined
}

/** A tool with all its arguments, for a terminal. */
export function toolHelp(tool: Tool, { terminal, account }: HelpFor): string {
  const rows = argumentRows(tool.inputSchema(), { pinned: account !== undefined })
  const parts: HelpPart[] = [
    [`${tool.name}: ${tool.title}`],
    [tool.description],
    [usageLine(tool)],
    ...(rows.length > 0
      ? [['Arguments:', ...rows.map(({ usage, meaning }): [string, string] => [usage, meaning])]]
      : []),
    [
      'Besides:',
      ...Object.entries(ownFlags).map(([name, text]): [string, string] => [`--${name}`, text]),
    ],
    ['Example:', `  ${exampleCommand(tool)}`],
  ]
  return terminal.layOut(parts)
}
