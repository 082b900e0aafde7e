import * as z from 'zod'
import { PhoneNumber } from '../../contract/phone-number.ts'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { fieldChanges } from '../field-changes.ts'
import { numberInWords } from '../found-in-words.ts'
import type { NamedOutcome } from '../many/none-done.ts'
import {
  countsOf,
  grouped,
  notDoneInWords,
  outcomeShape,
  repeatedLines,
} from '../many/outcomes-in-words.ts'
import {
  updateOutcome,
  updateOutcomeShape,
  updateOutcomes,
  updateWarnings,
} from '../many/update-outcomes.ts'
import { type NumberChange, numberChangeInWords } from './number-changes.ts'
import type { NumberReport } from './update-one-number.ts'

/** What became of one of many numbers. */
const UpdatedNumber = z.object({
  phone_number_id: z.string().optional().describe('Phone number id.'),
  name: z.string().optional().describe('The number with its name, or how it was given.'),
  ...outcomeShape.item,
  ...updateOutcomeShape,
})
type UpdatedNumber = z.output<typeof UpdatedNumber>

/** One number: the number afterwards, and what was changed. Many: what became of each. */
export const numberUpdateSchema = PhoneNumber.extend({
  applied: z.boolean().describe('False: nothing was saved.'),
  changes: fieldChanges,
  warnings: updateWarnings,
  ...outcomeShape.result,
  numbers: z.array(UpdatedNumber).describe('Many numbers, in the order given.'),
}).partial()

export function updatedNumber({ number, applied, changes, warnings }: NumberReport): ToolOutcome {
  const named = `number ${numberInWords(number)}`
  return {
    structured: { ...number, applied, changes, warnings },
    lines: [
      headOf(named, { applied, changes, warnings }),
      ...warnings.map((warning) => `Warning: ${warning}`),
      ...changes.map(numberChangeInWords),
    ],
  }
}

function headOf(
  named: string,
  { applied, changes, warnings }: Omit<NumberReport, 'number'>,
): string {
  if (applied) return `Updated ${named}:`
  if (changes.length > 0) return `Dry run, nothing saved: ${named} would change:`
  return warnings.length > 0
    ? `Nothing changed: the platform did not change ${named}`
    : `Nothing to change: ${named} has these values already.`
}

interface NumberOutcome extends NamedOutcome<NumberReport> {
  readonly id?: string | undefined
}

export function updatedNumbers(
  outcomes: readonly NumberOutcome[],
  { repeated, isDryRun }: { readonly repeated: readonly string[]; readonly isDryRun: boolean },
): ToolOutcome {
  const numbers = outcomes.map(shownNumber)
  const { summary, text } = countsOf(numbers, updateOutcomes, 'number')
  const named = (some: readonly UpdatedNumber[]) => some.map(({ name = '' }) => name).join(', ')
  const reports = outcomes.flatMap(({ outcome }) => (outcome.state === 'done' ? outcome.value : []))
  const unchanged = numbers.filter(({ outcome }) => outcome === 'unchanged')
  return {
    structured: { summary, numbers },
    lines: [
      `${isDryRun ? 'Dry run, nothing saved. ' : ''}${text}`,
      ...repeatedLines(repeated),
      ...notDoneInWords(numbers, named),
      ...textsOf(reports, ({ warnings }) => warnings.map((warning) => `Warning: ${warning}`)),
      ...textsOf(reports, ({ changes }) => changes.map(numberChangeInWords)),
      ...(unchanged.length > 0 ? [`Unchanged: ${named(unchanged)}`] : []),
    ],
  }
}

/** What is the same for several numbers is said once. */
const textsOf = (
  reports: readonly NumberReport[],
  texts: (report: NumberReport) => readonly string[],
): string[] =>
  grouped(reports, texts).map(
    ([text, some]) => `${text}: ${some.map(({ number }) => numberInWords(number)).join(', ')}`,
  )

function shownNumber({ given, id, outcome }: NumberOutcome): UpdatedNumber {
  if (outcome.state !== 'done') {
    const { state, problem } = outcome
    return { ...(id && { phone_number_id: id }), name: given, outcome: state, problem }
  }
  const { number, changes, warnings } = outcome.value
  const facts = { phone_number_id: number.id, name: numberInWords(number) }
  if (isIgnored(outcome.value)) return { ...facts, outcome: 'failed', problem: warnings.join('; ') }
  return {
    ...facts,
    outcome: updateOutcome(outcome.value),
    ...(changes.length > 0 && { changes: changes.map((one: NumberChange) => ({ ...one })) }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  }
}

/** The platform took the request and changed nothing. */
const isIgnored = ({ applied, changes, warnings }: NumberReport) =>
  !applied && changes.length === 0 && warnings.length > 0
