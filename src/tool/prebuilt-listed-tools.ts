import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'

/**
 * Tools as `tools/list` shows them, by name. The build replaces this module by one that holds them;
 * run from source they are derived from the schemas when they are asked for.
 */
export const prebuiltListedTools: Readonly<Record<string, ProtocolTool>> | undefined = undefined
