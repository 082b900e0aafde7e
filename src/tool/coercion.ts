import { type JsonSchema, schemaOf } from '../contract/json-schema.ts'
import { isUuid } from '../text/canonical-id.ts'
import { isObject } from '../text/json.ts'
import { isE164 } from '../text/phone-number.ts'
import { firstCharacters } from '../text/safe-text.ts'
import type { Tool } from './tool.ts'

/*
 * Coercion of arguments, such as "3" to 3. Only refused arguments are coerced, so valid ones never
 * change. The value must have a single reading: the schema accepts one form of it, or replies use
 * another name for the field. Free-form data is never changed.
 */

interface CoercedArguments {
  readonly value: Readonly<Record<string, unknown>>
  /** One text per coercion: the given value, and the value it was read as. */
  readonly coercions: readonly string[]
}

export function coerceArguments(
  given: Readonly<Record<string, unknown>>,
  { route, inputSchema }: Tool,
): CoercedArguments {
  const to: Coercion = { names: replyNames[route.id] ?? {}, coercions: [] }
  const value = coercedFields(given, { schema: inputSchema(), path: [] }, to)
  return { value, coercions: to.coercions }
}

interface Coercion {
  readonly names: ReplyNames
  readonly coercions: string[]
}

/**
 * Unpacks JSON text where the schema expects an object or an array. Some clients send both as text.
 */
export function unpackedJson(value: unknown, { type }: JsonSchema): unknown {
  if (typeof value !== 'string') return value
  if ((type !== 'object' && type !== 'array') || !/^\s*[{[]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** A place in the arguments. A list item has the name of its list. */
interface Place {
  readonly schema: JsonSchema
  readonly path: readonly string[]
  readonly name: string
}

function coerced(given: unknown, place: Place, to: Coercion): unknown {
  const { schema, path, name } = place
  const value = unpackedJson(given, schema)
  const meant = meantValue(value, schema, name)
  if (meant !== undefined) {
    to.coercions.push(coercionText(path.join('.'), value, meant))
    return coerced(meant, place, to)
  }
  if (Array.isArray(value)) {
    const items = schemaOf(schema.items)
    return value.map((item, at) =>
      coerced(item, { schema: items, path: [...path, String(at)], name }, to),
    )
  }
  return isObject(value) ? coercedFields(value, place, to) : value
}

function coercedFields(
  object: Readonly<Record<string, unknown>>,
  { schema: { properties = {} }, path }: Omit<Place, 'name'>,
  to: Coercion,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([given, value]) => {
      const name = Object.hasOwn(properties, given)
        ? given
        : requestName(given, { object, properties, path }, to)
      if (!Object.hasOwn(properties, name)) return [name, value]
      const schema = schemaOf(properties[name])
      return [name, coerced(value, { schema, path: [...path, name], name }, to)]
    }),
  )
}

interface Field {
  readonly object: object
  readonly properties: object
  readonly path: readonly string[]
}

/** The request's name of a field that has another name in replies; unchanged for other fields. */
function requestName(given: string, { object, properties, path }: Field, to: Coercion): string {
  const from = [...path, given].join('.')
  const full = Object.hasOwn(to.names, from) ? to.names[from] : undefined
  const name = full?.slice(full.lastIndexOf('.') + 1)
  if (name === undefined || Object.hasOwn(object, name) || !Object.hasOwn(properties, name))
    return given
  to.coercions.push(`${from} as ${full}`)
  return name
}

/**
 * The value in the form that the schema expects; `undefined`: it already has that form, or is
 * ambiguous.
 */
function meantValue(value: unknown, schema: JsonSchema, name: string): unknown {
  if (schema.type === 'array')
    return Array.isArray(value) ? undefined : meantList(value, schema, name)
  if (isObject(value)) return schema.type === 'string' ? fieldOfReply(value, name) : undefined
  if (typeof value !== 'string') return undefined
  // A bare phone number in a list of calls is the number to call.
  if (schema.type === 'object')
    return name === 'calls' && /^[+(]?\d/.test(value) ? { to_number: value } : undefined
  return meantScalar(value, schema)
}

/** The id or code inside an object copied from a reply. */
function fieldOfReply(value: Readonly<Record<string, unknown>>, name: string): unknown {
  const field = Object.hasOwn(replyObjects, name) ? replyObjects[name] : undefined
  const meant = field === undefined ? undefined : value[field]
  return typeof meant === 'string' ? meant : undefined
}

function meantScalar(text: string, { type, enum: choices }: JsonSchema): unknown {
  if (type === 'boolean') return meantBoolean(text.toLowerCase())
  if (type === 'integer' || type === 'number') return meantNumber(text)
  if (choices === undefined || choices.includes(text)) return undefined
  return choices.find((choice) => String(choice).toLowerCase() === text.toLowerCase())
}

function meantBoolean(text: string): boolean | undefined {
  if (text === 'true') return true
  return text === 'false' ? false : undefined
}

/** Reads a JSON number that JavaScript keeps exactly; `undefined` for other texts. */
function meantNumber(text: string): number | undefined {
  const isDecimal = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/.test(text) && text.length <= 17
  return isDecimal ? Number(text) : undefined
}

/** Lists whose items never contain a comma. A text with commas is read as several items. */
const commaSeparated = ['add_tags', 'allowed_ips', 'allowed_variables', 'any_tag', 'fields']
  // A tag never contains a comma, because in a filter the platform reads a comma as the end of a
  // tag [R].
  .concat('languages', 'remove_tags', 'tags')

function meantList(value: unknown, { items }: JsonSchema, name: string): unknown[] | undefined {
  const { type, enum: choices } = schemaOf(items)
  if (isObject(value)) return type === 'object' ? [value] : undefined
  if (typeof value !== 'string' || type !== 'string') return undefined
  const parts = value.split(',').map((part) => part.trim())
  // A text that begins like JSON or Python is a malformed list.
  if (parts.includes('') || /^[[{(]/.test(value)) return undefined
  if (parts.length === 1) return parts
  const isCertain = choices || commaSeparated.includes(name) || parts.every(isIdOrNumber)
  return isCertain ? parts : undefined
}

/** Names may contain a comma; UUIDs and E.164 numbers do not. */
const isIdOrNumber = (text: string) => isUuid(text) || isE164(text)

function coercionText(argument: string, value: unknown, meant: unknown): string {
  if (Array.isArray(meant) && meant.length === 1) return `${argument} as a list of one`
  return `${argument}: ${shown(value)} as ${shown(meant)}`
}

/** Longest value shown in a coercion, characters. */
const longestShown = 60

function shown(value: unknown): string {
  if (typeof value === 'string' && value.length > longestShown)
    return JSON.stringify(`${firstCharacters(value, longestShown)}…`)
  const json = JSON.stringify(value)
  return json.length > longestShown ? `${json.slice(0, longestShown)}…` : json
}

/*
 * Fields whose names differ between requests and replies. Callers often use the name from a reply.
 * The pairs follow the platform's reference, by route.
 */

/** Maps the reply's name of a field to the request's name. Nested fields are dotted. */
type ReplyNames = Readonly<Record<string, string>>

const agent: ReplyNames = { id: 'agent_id' }
const phoneNumber: ReplyNames = {
  friendly_name: 'name',
  sip_trunk: 'sip_trunk_id',
  inbound_agent: 'inbound_agent_id',
}
/**
 * Names from catalogs. Only these two are replaced, because a new agent requires both fields;
 * elsewhere an `id` may be a provider's own field.
 */
const catalogs: ReplyNames = { 'model.id': 'model.model', 'voice.id': 'voice.voice_id' }

/** Reply names by route id. A name that is an argument of the tool is not replaced. */
export const replyNames: Readonly<Record<string, ReplyNames>> = {
  'agents.create': catalogs,
  'agents.get': agent,
  'agents.update': agent,
  'agents.archive': agent,
  'subaccounts.get': { id: 'subaccount_id' },
  'subaccounts.update': { id: 'subaccount_id' },
  'phone_numbers.create': phoneNumber,
  'phone_numbers.get': { id: 'phone_number_id' },
  'phone_numbers.update': { ...phoneNumber, id: 'phone_number_id' },
  'phone_numbers.delete': { id: 'phone_number_id' },
  'sip_trunks.get': { id: 'sip_trunk_id' },
  'sip_trunks.update': { id: 'sip_trunk_id' },
  'sip_trunks.delete': { id: 'sip_trunk_id' },
  'calls.get': { id: 'call_id' },
  'calls.list': { id: 'call_id' },
  'conversations.list': { conversation_id: 'id' },
}

/**
 * Request fields that take a single field of an object in replies: the id of a trunk or an agent
 * (`{"id":"…","name":"…"}`), or the code of a provider or a language.
 */
const replyObjects: Readonly<Record<string, string>> = {
  sip_trunk_id: 'id',
  inbound_agent_id: 'id',
  provider: 'code',
  language: 'code',
  languages: 'code',
}
