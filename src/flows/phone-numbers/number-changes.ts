import type { PhoneNumber } from '../../contract/phone-number.ts'
import type { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { canonicalId } from '../../text/canonical-id.ts'
import { quoted, quotedNameWithId } from '../../text/dialog-text.ts'
import type { FieldChange } from '../field-changes.ts'

/** The fields of an update. */
export type NumberBody = Run<typeof routes.phoneNumbers.update>['body']

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
export interface NumberChange extends FieldChange {
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
export function numberChangeInWords({ field, before, after }: NumberChange): string {
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
