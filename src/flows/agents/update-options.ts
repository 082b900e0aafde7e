import * as z from 'zod'
import type { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { agentSelection } from './agent-selection.ts'
import { tagOptions } from './tag-changes.ts'

/** Arguments of an update beside the fields to change. */
export const updateOptions = {
  ...agentSelection,
  ...tagOptions,
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
  expected_modified: z
    .string()
    .optional()
    .describe('Its modified as you read it; refused if changed since.'),
}

export type UpdateRun = Run<typeof routes.agents.update, typeof updateOptions>
