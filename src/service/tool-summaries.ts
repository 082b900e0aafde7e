import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { tools } from '../../tools/index.ts'
import type { ExposableTool } from '../mcp/protocol/exposure.ts'

/*
 * What is known of the tools before any of them is loaded. In the bundle this file is its own
 * results, worked out when the bundle was made: the schemas and the SDK take longer to load than
 * everything else an assistant waits for at the start.
 */

/** A tool as it is listed, and what decides whether it is. */
export interface Card extends ExposableTool {
  /** The tool as `tools/list` shows it, as JSON text; not for a pinned account. */
  readonly listed: string
}

export const cards: readonly Card[] = tools.map(({ name, effect, route, listed }) => ({
  name,
  effect,
  route: { id: route.id },
  listed: JSON.stringify(listed('any')),
}))

/** Revisions that begin with `initialize`, as the SDK speaks them, the latest first. */
export const initializedVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS
