import * as z from 'zod'
import type { HelpPart } from '../../config/help.ts'
import { toolsetsOf } from '../../mcp/protocol/exposure.ts'
import type { ToolSummary } from '../../service/tool-summaries.ts'
import type { Terminal } from './terminal.ts'

const Listed = z.object({ title: z.string(), description: z.string() })

/** A tool as `tools --json` shows it. */
export interface ListedTool {
  readonly name: string
  readonly toolset: string
  readonly title: string
  readonly description: string
  /** `reads`, `writes`, `destroys` or `bills`. */
  readonly effect: string
}

export const listedTools = (summaries: readonly ToolSummary[]): ListedTool[] =>
  summaries.map(({ name, effect, route, listed }) => {
    const { title, description } = Listed.parse(JSON.parse(listed))
    return { name, toolset: toolsetsOf([route])[0] ?? '', title, description, effect }
  })

/** Tools in their groups, a line each, for a terminal. */
export function toolList(
  summaries: readonly ToolSummary[],
  { layOut }: Pick<Terminal, 'layOut'>,
): string {
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
