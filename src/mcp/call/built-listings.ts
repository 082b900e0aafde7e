import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'

/**
 * Tools as `tools/list` shows them, by name, worked out when the bundle was made. Run from source
 * there are none, and they are derived from the schemas when they are asked for.
 */
export const listings: Readonly<Record<string, ProtocolTool>> | undefined = undefined
