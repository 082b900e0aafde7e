import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'

/**
 * Listed tools by name. The build replaces this module with the computed tools; from source, they
 * are derived from the schemas lazily.
 */
export const prebuiltListedTools: Readonly<Record<string, ProtocolTool>> | undefined = undefined
