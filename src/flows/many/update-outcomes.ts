import * as z from 'zod'
import { fieldChanges } from '../field-changes.ts'

/** What can become of one of many things that are to be updated, the worst first. */
export const updateOutcomes = [
  'failed',
  'unknown',
  'not_tried',
  'updated',
  'would_change',
  'unchanged',
] as const
export type UpdateOutcome = (typeof updateOutcomes)[number]

export const updateWarnings = z.array(z.string()).describe('What may be a mistake.')

/** What a result says of each of many things that were to be updated. */
export const updateOutcomeShape = {
  outcome: z.enum(updateOutcomes).describe('unknown: sent, and not known whether it was saved.'),
  changes: fieldChanges.optional(),
  warnings: updateWarnings.optional(),
}

/** The outcome of an update that the platform has taken, or that was not to be saved. */
export function updateOutcome({
  applied,
  changes,
}: {
  readonly applied: boolean
  readonly changes: readonly unknown[]
}): 'updated' | 'would_change' | 'unchanged' {
  if (applied) return 'updated'
  return changes.length > 0 ? 'would_change' : 'unchanged'
}
