import * as z from 'zod'
import { PhoneNumber } from '../../src/contract/phone-number.ts'
import type { routes } from '../../src/contract/routes.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { quoted, quotedNameWithId } from '../../src/text/dialog-text.ts'
import { type FieldChange, fieldChanges } from '../../src/tool/field-changes.ts'
import { numberInWords } from '../../src/tool/in-use.ts'
import type { NamedOutcome } from '../../src/tool/many.ts'
import {
  countsOf,
  grouped,
  notDoneInWords,
  outcomeShape,
  repeatedLines,
  updateOutcome,
  updateOutcomeShape,
  updateOutcomes,
  updateWarnings,
} from '../../src/tool/many-result.ts'
import type { Run, ToolOutcome } from '../../src/tool/tool.ts'

/** What an update did to one number, or would do. */
export interface NumberReport {
  /** The number afterwards. */
  readonly number: PhoneNumber
  /** False: nothing was saved. */
  readonly applied: boolean
  readonly changes: readonly NumberChange[]
  readonly warnings: readonly string[]
}

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

/** The fields of an update. */
type NumberBody = Run<typeof routes.phoneNumbers.update>['body']

/** What a number is linked to: a trunk or an agent; `null`: nothing. */
export type NumberLink = { readonly id: string; readonly name?: string } | null

/** The arguments that change a number, and the fields of the reply that they change. */
const fieldsByArgument = {
  number: 'number',
  name: 'friendly_name',
  sip_trunk_id: 'sip_trunk',
  inbound_agent_id: 'inbound_agent',
} as const
type Argument = keyof typeof fieldsByArgument
const allArguments = Object.keys(fieldsByArgument) as Argument[]

type Value = string | NumberLink

/** A part of the number before and after, by its name in replies. */
interface NumberChange extends FieldChange {
  readonly field: (typeof fieldsByArgument)[Argument]
  /** `undefined`: it could not be read. */
  readonly before: Value | undefined
  readonly after: Value
}

/** The trunk and the agent that the arguments mean, as far as they were read. */
export interface LinkNames {
  readonly sip_trunk_id?: NumberLink
  readonly inbound_agent_id?: NumberLink
}

/** What the update would change; of a number that could not be read, all that is given. */
export const plannedChanges = (
  stored: PhoneNumber | undefined,
  body: NumberBody,
  links: LinkNames,
): NumberChange[] =>
  allArguments.flatMap((argument) => {
    const wanted = body[argument]
    if (wanted === undefined) return []
    const after = wantedValue(argument, wanted, links)
    return stored
      ? changeOf(argument, stored, after)
      : [{ field: fieldsByArgument[argument], before: undefined, after }]
  })

function wantedValue(argument: Argument, wanted: string | null, links: LinkNames): Value {
  if (argument === 'number' || argument === 'name' || wanted === null) return wanted
  return links[argument] ?? { id: wanted }
}

/** What an update changed; of a number that could not be read before, what was sent and taken. */
export const changesBetweenNumbers = (
  before: PhoneNumber | undefined,
  after: PhoneNumber,
  planned: readonly NumberChange[],
): NumberChange[] =>
  allArguments.flatMap((argument) => {
    const value = storedValue(argument, after)
    if (before) return changeOf(argument, before, value)
    const isTaken = planned.some(
      (one) => one.field === fieldsByArgument[argument] && isSame(one.after, value),
    )
    return isTaken ? [{ field: fieldsByArgument[argument], before: undefined, after: value }] : []
  })

function changeOf(argument: Argument, stored: PhoneNumber, after: Value): NumberChange[] {
  const before = storedValue(argument, stored)
  return isSame(before, after) ? [] : [{ field: fieldsByArgument[argument], before, after }]
}

function storedValue(argument: Argument, number: PhoneNumber): Value {
  const value = number[fieldsByArgument[argument]]
  if (!value || typeof value === 'string') return value ?? null
  const { id, name } = value
  return { id, ...(name && { name }) }
}

const isSame = (one: Value, other: Value) => keyOf(one) === keyOf(other)

const keyOf = (value: Value) => (typeof value === 'string' ? value : value && canonicalId(value.id))

/** The body that makes these changes, and nothing else. */
export const bodyOf = (body: NumberBody, changes: readonly NumberChange[]): NumberBody =>
  Object.fromEntries(
    Object.entries(body).filter(([argument]) =>
      changes.some(({ field }) => field === fieldsByArgument[argument as Argument]),
    ),
  )

/** Changes that the platform did not make although they were sent. */
export const ignoredChanges = (planned: readonly NumberChange[], updated: PhoneNumber): string[] =>
  planned.flatMap(({ field, after }) => {
    const argument = allArguments.find((one) => fieldsByArgument[one] === field) ?? 'number'
    const stored = storedValue(argument, updated)
    return isSame(stored, after)
      ? []
      : [`${field}: the platform has ${inWords(stored)}, not ${inWords(after)}`]
  })

/** `inbound_agent: none → "Front desk"`. Ids are shown where names do not tell the difference. */
function numberChangeInWords({ field, before, after }: NumberChange): string {
  const texts = [inWords(before), inWords(after)]
  const [from, to] = texts[0] === texts[1] ? [withId(before), withId(after)] : texts
  return `${field}: ${from} → ${to}`
}

function inWords(value: Value | undefined): string {
  if (value === undefined) return 'unknown'
  if (value === null) return 'none'
  return quoted(typeof value === 'string' ? value : (value.name ?? value.id))
}

const withId = (value: Value | undefined): string =>
  !value || typeof value === 'string' ? inWords(value) : quotedNameWithId(value.name, value.id)
