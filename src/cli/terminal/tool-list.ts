import * as z from 'zod'
import { type Exposure, toolsetsOf } from '../../mcp/exposure.ts'
import type { ToolSummary } from '../../server/tool-summaries.ts'
import { closestWord } from '../../text/closest-match.ts'
import { firstCharacters, safeJsonLines, safeLine } from '../../text/safe-text.ts'
import type { Tool } from '../../tool/tool.ts'
import { CommandLineError, ConfigError } from '../config/config-error.ts'
import type { HelpPart } from '../config/help.ts'
import type { Terminal } from './terminal.ts'
import { toolHelp } from './tool-help.ts'

interface HowShown {
  readonly terminal: Terminal
  readonly wantsJson: boolean
  /** The account that the operator has pinned. */
  readonly account: string | undefined
}

/** Prints all tools, and gives the exit code. */
export async function showTools(
  summaries: readonly ToolSummary[],
  { terminal, wantsJson }: HowShown,
): Promise<number> {
  await terminal.print(
    wantsJson ? safeJsonLines(listedTools(summaries)) : toolList(summaries, terminal),
  )
  return 0
}

/** Prints one tool with its arguments. Throws ConfigError where it is not there, or not exposed. */
export async function showTool(
  name: string,
  { all, hidden }: Exposure,
  { terminal, wantsJson, account }: HowShown,
): Promise<number> {
  const tool = toolNamed(name, all)
  const reason = hidden.get(tool.name)
  if (reason !== undefined) throw new ConfigError(`${tool.name} is not exposed by ${reason}.`)
  await terminal.print(
    wantsJson ? safeJsonLines(toolAsData(tool)) : toolHelp(tool, { terminal, account }),
  )
  return 0
}

const toolAsData = ({ name, title, description, effect, inputSchema, outputSchema }: Tool) => ({
  ...{ name, title, description, effect },
  inputSchema: inputSchema(),
  outputSchema: outputSchema(),
})

const Listed = z.object({ title: z.string(), description: z.string() })

/** A tool as `tools --json` shows it. */
interface ListedTool {
  readonly name: string
  readonly toolset: string
  readonly title: string
  readonly description: string
  /** `reads`, `writes`, `destroys` or `bills`. */
  readonly effect: string
}

const listedTools = (summaries: readonly ToolSummary[]): ListedTool[] =>
  summaries.map(({ name, effect, route, listed }) => {
    const { title, description } = Listed.parse(JSON.parse(listed))
    return { name, toolset: toolsetsOf([route])[0] ?? '', title, description, effect }
  })

/** Tools in their groups, a line each, for a terminal. */
function toolList(summaries: readonly ToolSummary[], { layOut }: Pick<Terminal, 'layOut'>): string {
  const tools = listedTools(summaries)
  const groups = [...new Set(tools.map(({ toolset }) => toolset))].map(
    (toolset): HelpPart => [
      `${toolset.replaceAll('_', ' ')}:`,
      ...tools
        .filter((tool) => tool.toolset === toolset)
        .map(({ name, title }): [string, string] => [name, title]),
    ],
  )
  const end = [
    'voice-agent-mcp tools NAME shows the arguments of a tool, voice-agent-mcp call NAME calls it.',
  ]
  return layOut([...groups, end])
}

/** Most characters of a name that are shown. */
const longestShown = 64

/** The tool of this name, with underscores or hyphens. */
export const findTool = <T extends { readonly name: string }>(
  name: string,
  tools: readonly T[],
): T | undefined => tools.find((tool) => tool.name === name.replaceAll('-', '_'))

/** The same; throws CommandLineError where there is none. */
export function toolNamed<T extends { readonly name: string }>(
  name: string,
  tools: readonly T[],
): T {
  const found = findTool(name, tools)
  if (found) return found
  const names = tools.map((tool) => tool.name)
  const meant = closestWord(name, names)
  const hint = meant === undefined ? 'voice-agent-mcp tools lists them.' : `Did you mean ${meant}?`
  throw new CommandLineError(
    `There is no tool ${safeLine(firstCharacters(name, longestShown))}. ${hint}`,
  )
}
