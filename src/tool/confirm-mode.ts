import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'

/**
 * Who confirms calls, deletes, archiving, disabling, and greetings with unknown variables for
 * several agents.
 * - `always`: a person if the client can ask one, else the caller by a preview.
 * - `auto`: the same, but archiving and disabling need confirmation only if something that works
 *   now would stop, or if a filter selected several agents.
 * - `person`: a person. Clients that cannot ask one are refused.
 * - `never`: nobody.
 */
export const confirmModes = ['always', 'auto', 'person', 'never'] as const
export type ConfirmMode = (typeof confirmModes)[number]

/** Argument for the token of a preview. */
export const confirmName = 'confirm_token'

/** True if `tools/list` shows the token argument. In mode `person`, tokens are not accepted. */
export const listsToken = (mode: ConfirmMode): boolean => mode !== 'person'

/** Removes the token argument from a tool. */
export function withoutToken(tool: ProtocolTool): ProtocolTool {
  const { properties = {} } = tool.inputSchema
  if (!(confirmName in properties)) return tool
  const { [confirmName]: _, ...rest } = properties
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: rest } }
}
