import { isE164 } from '../../contract/field.ts'
import type { JsonSchema } from '../../contract/json-schema.ts'
import { type ReplyNames, replyNames, replyObjects } from '../../contract/reply-names.ts'
import { isObject } from '../../json/is-object.ts'
import { isUuid } from '../../text/canonical-id.ts'
import { unpackedJson } from './normalise-arguments.ts'
import type { Tool } from './tool.ts'

/*
 * Arguments as models write them, such as "3" for 3. Only arguments that were refused are read this
 * way, so nothing that is valid is changed, and only where one reading is possible: the schema takes
 * the value in one form, or the field has another name in replies. Free data is never changed.
 */

/** Refused arguments in the form that the schema takes. */
interface MeantArguments {
  readonly value: Readonly<Record<string, unknown>>
  /** What was read as what, in words. */
  readonly readings: readonly string[]
}

export function readAsMeant(
  given: Readonly<Record<string, unknown>>,
  { route, inputSchema }: Tool,
): MeantArguments {
  const reading: Reading = { names: replyNames[route.id] ?? {}, readings: [] }
  const value = readFields(given, { schema: inputSchema(), path: [] }, reading)
  return { value, readings: reading.readings }
}

interface Reading {
  readonly names: ReplyNames
  readonly readings: string[]
}

/** A place in the arguments; an item of a list has the name of the list. */
interface Place {
  readonly schema: JsonSchema
  readonly path: readonly string[]
  readonly name: string
}

function read(given: unknown, place: Place, to: Reading): unknown {
  const { schema, path, name } = place
  const value = unpackedJson(given, schema)
  const meant = meantValue(value, schema, name)
  if (meant !== undefined) {
    to.readings.push(readingOf(path.join('.'), value, meant))
    return read(meant, place, to)
  }
  if (Array.isArray(value)) {
    const items: JsonSchema = { ...Object(schema.items) }
    return value.map((item, at) =>
      read(item, { schema: items, path: [...path, String(at)], name }, to),
    )
  }
  return isObject(value) ? readFields(value, place, to) : value
}

function readFields(
  object: Readonly<Record<string, unknown>>,
  { schema: { properties = {} }, path }: Omit<Place, 'name'>,
  to: Reading,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([given, value]) => {
      const name = Object.hasOwn(properties, given)
        ? given
        : requestName(given, { object, properties, path }, to)
      if (!Object.hasOwn(properties, name)) return [name, value]
      const schema: JsonSchema = { ...Object(properties[name]) }
      return [name, read(value, { schema, path: [...path, name], name }, to)]
    }),
  )
}

interface Field {
  readonly object: object
  readonly properties: object
  readonly path: readonly string[]
}

/** The name that a request has for the field of a reply; the given one where there is none. */
function requestName(given: string, { object, properties, path }: Field, to: Reading): string {
  const from = [...path, given].join('.')
  const full = Object.hasOwn(to.names, from) ? to.names[from] : undefined
  const name = full?.slice(full.lastIndexOf('.') + 1)
  if (name === undefined || Object.hasOwn(object, name) || !Object.hasOwn(properties, name))
    return given
  to.readings.push(`${from} as ${full}`)
  return name
}

/** The value in the form that the schema takes; `undefined` where it is in that form, or in doubt. */
function meantValue(value: unknown, schema: JsonSchema, name: string): unknown {
  if (schema.type === 'array')
    return Array.isArray(value) ? undefined : meantList(value, schema, name)
  if (isObject(value)) return schema.type === 'string' ? fieldOfReply(value, name) : undefined
  if (typeof value !== 'string') return undefined
  // A number in the list of calls is the one to call.
  if (schema.type === 'object')
    return name === 'calls' && isE164(value) ? { to_number: value } : undefined
  return meantScalar(value, schema)
}

/** The id or code in an object of a reply. */
function fieldOfReply(value: Readonly<Record<string, unknown>>, name: string): unknown {
  const field = Object.hasOwn(replyObjects, name) ? replyObjects[name] : undefined
  const meant = field === undefined ? undefined : value[field]
  return typeof meant === 'string' ? meant : undefined
}

function meantScalar(text: string, { type, enum: choices }: JsonSchema): unknown {
  if (type === 'boolean') return { true: true, false: false }[text.toLowerCase()]
  if (type === 'integer' || type === 'number') return meantNumber(text)
  if (choices === undefined || choices.includes(text)) return undefined
  return choices.find((choice) => String(choice).toLowerCase() === text.toLowerCase())
}

/** A decimal number as JSON writes it, if JavaScript keeps it exactly. */
function meantNumber(text: string): number | undefined {
  const isDecimal = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/.test(text) && text.length <= 17
  return isDecimal ? Number(text) : undefined
}

/** Lists whose items hold no comma, so that a text with commas can only be several of them. */
const commaSeparated = ['add_tags', 'allowed_ips', 'allowed_variables', 'fields', 'languages']
  // The platform reads a comma in a filter by tags as the end of one [R].
  .concat('remove_tags', 'tags')

function meantList(value: unknown, { items }: JsonSchema, name: string): unknown[] | undefined {
  const { type, enum: choices }: JsonSchema = Object(items)
  if (isObject(value)) return type === 'object' ? [value] : undefined
  if (typeof value !== 'string' || type !== 'string') return undefined
  const parts = value.split(',').map((part) => part.trim())
  // A text that begins like JSON or Python is a list that was written wrongly.
  if (parts.includes('') || /^[[{(]/.test(value)) return undefined
  if (parts.length === 1) return parts
  const isCertain = choices || commaSeparated.includes(name) || parts.every(isIdOrNumber)
  return isCertain ? parts : undefined
}

/** Names may hold commas; a UUID and an E.164 number do not. */
const isIdOrNumber = (text: string) => isUuid(text) || isE164(text)

function readingOf(argument: string, value: unknown, meant: unknown): string {
  if (Array.isArray(meant) && meant.length === 1) return `${argument} as a list of one`
  return `${argument}: ${shown(value)} as ${shown(meant)}`
}

/** How much of a value is shown. */
const longestShown = 60

function shown(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > longestShown ? `${json.slice(0, longestShown)}…` : json
}
