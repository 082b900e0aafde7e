import * as z from 'zod'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { nameWithId } from '../../text/closest-match.ts'
import { type FieldChange, fieldChanges } from '../field-changes.ts'
import { updateWarnings } from '../many/update-outcomes.ts'
import { shortJson } from './agent-patch.ts'
import { bringBackWarnings } from './bring-back.ts'
import { missingTagWarnings, tagsOf } from './tag-changes.ts'
import type { UpdateReport } from './update-one-agent.ts'

/** The result for one agent. */
export const updateResultShape = {
  agent_id: z.string().describe('Agent id.'),
  name: z.string().nullable().describe('Its name.'),
  applied: z.boolean().describe('False: nothing was saved.'),
  modified: z.string().nullable().describe('When it last changed.'),
  changes: fieldChanges,
  warnings: updateWarnings,
}

export function updateResult(report: UpdateReport): ToolOutcome {
  const { agent, applied, changes, missingTags } = report
  const { id, name, modified } = agent
  const warnings = [...missingTagWarnings(missingTags, tagsOf(agent)), ...report.warnings]
  const lines = [
    `${headOf(report)}; modified ${modified ?? 'unknown'}.`,
    // Warnings first: if there are many changes, the last lines are left out.
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...changes.map((change) => `${change.field}: ${changeText(change)}`),
  ]
  const names = { agent_id: id, name: name ?? null, modified: modified ?? null }
  return { structured: { ...names, applied, changes, warnings }, lines }
}

/** Replies need not have `is_archived` [R], so its absence says nothing about its value. */
export function changeText({ field, before, after }: FieldChange, longest?: number): string {
  const isUnknown = field === 'is_archived' && before === undefined
  return `${isUnknown ? 'unknown' : shortJson(before, longest)} → ${shortJson(after, longest)}`
}

function headOf({ agent, applied, changes, warnings }: UpdateReport): string {
  const named = `agent ${nameWithId(agent.name, agent.id)}`
  if (applied) return `Updated ${named}`
  if (changes.length > 0) return `Dry run, nothing saved: ${named} would change`
  return isStillArchived(warnings)
    ? `Nothing changed: the platform did not bring back ${named}`
    : `Nothing to change: ${named} has these values already`
}

/** Whether an agent was to be brought back, and the platform did not do it. */
export const isStillArchived = (warnings: readonly string[]): boolean =>
  bringBackWarnings['still archived'].some((one) => warnings.includes(one))
