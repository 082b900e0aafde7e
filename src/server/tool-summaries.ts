import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { tools } from '../../tools/index.ts'
import type { ViewName } from '../apps/views.ts'
import type { ExposableTool } from '../mcp/exposure.ts'

/*
 * Facts about the tools and the SDK for the stdio handshake and the settings. In the bundle this
 * file holds its own results, computed by the build (src/dev/build.ts): loading the tools' schemas
 * and the SDK takes longer than the rest of the start.
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
    // Lazy, because few commands list tools.
    get listed() {
      return JSON.stringify(listed('any'))
    },
    view,
  }),
)

/** Protocol revisions of the SDK that begin with `initialize`, latest first. */
export const initializedVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS
