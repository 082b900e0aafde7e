import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { tools } from '../../tools/index.ts'
import type { ViewName } from '../apps/views.ts'
import type { ExposableTool } from '../mcp/exposure.ts'

/*
 * What the stdio handshake and the settings know of the tools and the SDK. In the bundle this file
 * holds its own results, computed by the build (src/dev/build.ts): to load the tools' schemas and
 * the SDK takes longer than everything else at the start.
 */

/** A tool as it is listed, and what decides whether it is exposed. */
export interface ToolSummary extends ExposableTool {
  /** The tool as `tools/list` shows it without a pinned account, as JSON text. */
  readonly listed: string
  /** The view that shows its results. */
  readonly view: ViewName | undefined
}

export const toolSummaries: readonly ToolSummary[] = tools.map(
  ({ name, effect, route, listed, view }) => ({
    name,
    effect,
    route: { id: route.id },
    // Made when it is asked for: few commands list tools.
    get listed() {
      return JSON.stringify(listed('any'))
    },
    view,
  }),
)

/** Protocol revisions that begin with `initialize`, as the SDK speaks them, the latest first. */
export const initializedVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS
