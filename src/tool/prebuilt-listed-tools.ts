import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'

/**
 * Listed tools by name. The build replaces this module with the computed tools. When run from
 * source, the tools are derived from the schemas on first use.
 */
export const prebuiltListedTools: Readonly<Record<string, ProtocolTool>> | undefined = undefined
