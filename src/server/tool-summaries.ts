import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { tools } from '../../tools/index.ts'
import type { ViewName } from '../apps/views.ts'
import type { ExposableTool } from '../mcp/exposure.ts'

/*
 * Facts about the tools and the MCP SDK, for the stdio handshake and the settings. In the bundle,
 * the build replaces this file by the computed values (src/dev/build.ts), because loading the
 * tools' schemas and the MCP SDK takes longer than the rest of the start.
 */

/** A tool as listed, with the properties that decide its exposure. */
export interface ToolSummary extends ExposableTool {
  /** The tool as `tools/list` shows it without a pinned account, as JSON text. */
  readonly listed: string
  readonly view: ViewName | undefined
}

export const toolSummaries: readonly ToolSummary[] = tools.map(
  ({ name, effect, route, listed, view }) => ({
    name,
    effect,
    route: { id: route.id },
    // Computed lazily, because few commands list tools.
    get listed() {
      return JSON.stringify(listed('any'))
    },
    view,
  }),
)

/** The MCP SDK's protocol revisions that begin with `initialize`, latest first. */
export const initializedVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS
