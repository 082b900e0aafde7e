import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'

/**
 * Who is asked before calls, deletes, archiving and deactivating. `always`: everybody, by whatever
 * way there is. `auto`: whoever can be asked; clients that cannot ask get a preview first for calls
 * and deletes only. `person`: a person, by the client's own dialogue; where there is none, it is
 * refused. `never`: nobody.
 */
export const confirmModes = ['always', 'auto', 'person', 'never'] as const
export type ConfirmMode = (typeof confirmModes)[number]

/** Argument that carries the token of a preview. */
export const confirmName = 'confirm_token'

/** Whether tools are listed with the token: where only a person can agree, none is ever good. */
export const listsToken = (mode: ConfirmMode): boolean => mode !== 'person'

/** A tool as it is listed where no token is good. */
export function withoutToken(tool: ProtocolTool): ProtocolTool {
  const { properties = {} } = tool.inputSchema
  if (!(confirmName in properties)) return tool
  const { [confirmName]: _, ...rest } = properties
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: rest } }
}
