import { ConfigError } from '../../config/config-error.ts'
import type { Tool } from '../../mcp/call/tool.ts'
import type { Exposure } from '../../mcp/protocol/exposure.ts'
import type { ToolSummary } from '../../service/tool-summaries.ts'
import { safeJsonLines } from '../../text/safe-text.ts'
import type { Terminal } from './terminal.ts'
import { toolHelp } from './tool-help.ts'
import { listedTools, toolList } from './tool-list.ts'
import { toolNamed } from './tool-named.ts'

export interface HowShown {
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
