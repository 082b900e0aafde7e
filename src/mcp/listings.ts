import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'

/**
 * Tools as `tools/list` shows them, by name, worked out when the bundle was made: deriving them
 * from the schemas takes longer than everything else an assistant waits for at the start. Run from
 * source there are none, and they are derived when they are asked for.
 */
export const listings: Readonly<Record<string, ProtocolTool>> | undefined = undefined
