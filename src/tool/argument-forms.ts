import { isE164 } from '../contract/field.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import { isUuid } from '../text/canonical-id.ts'
import { closestWord, sameWord } from '../text/closest-match.ts'
import { isObject } from '../text/json.ts'
import type { ArgumentProblem } from './refused.ts'
import type { AbsentFields, Tool } from './tool.ts'

/** Arguments in the shape of the schema, before they are parsed. */
interface NormalisedArguments {
  readonly value: unknown
  readonly problems: readonly ArgumentProblem[]
  /** Dotted paths of declared fields that were null, which means 'not given'. */
  readonly nulls: readonly string[]
}

/**
 * Unpacks objects and arrays that a client sent as JSON text, leaves out declared fields that are
 * null, and reports unknown names, at every depth. Undeclared fields are data and stay unchanged,
 * null too. `absent` explains names for what the API does not have.
 */
export function normaliseArguments(
  given: unknown,
  schema: JsonSchema,
  absent: AbsentFields = {},
): NormalisedArguments {
  const found: Found = { problems: [], nulls: [], absent }
  const value = normalised(given, schema, [], found)
  return { value, problems: found.problems, nulls: found.nulls }
}

interface Found {
  readonly problems: ArgumentProblem[]
  readonly nulls: string[]
  readonly absent: AbsentFields
}

/** How many unknown names are reported at most. */
const mostProblems = 20

function normalised(value: unknown, schema: JsonSchema, path: string[], found: Found): unknown {
  const unpacked = unpackedJson(value, schema)
  if (Array.isArray(unpacked)) {
    const items = schemaOf(schema.items)
    return unpacked.map((item, at) => normalised(item, items, [...path, String(at)], found))
  }
  if (typeof unpacked !== 'object' || unpacked === null) return unpacked
  const properties = schema.properties ?? {}
  return Object.fromEntries(
    Object.entries(unpacked).flatMap(([name, field]) => {
      const here = [...path, name]
      if (!Object.hasOwn(properties, name))
        return isAccepted(here, unpacked, schema, found) ? [[name, field]] : []
      if (field === null) {
        found.nulls.push(here.join('.'))
        return []
      }
      const nullsBefore = found.nulls.length
      const inner = normalised(field, schemaOf(properties[name]), here, found)
      // An object with nothing but nulls was filled in by a client: it is not given either.
      const wasEmptied = isEmptyObject(inner) && found.nulls.length > nullsBefore
      return wasEmptied && !isRequired(name, schema) ? [] : [[name, inner]]
    }),
  )
}

/** Whether an undeclared name is accepted; otherwise it is reported. */
function isAccepted(path: string[], object: object, schema: JsonSchema, found: Found): boolean {
  const name = path.at(-1) ?? ''
  const known = Object.keys(schema.properties ?? {})
  if (schema.additionalProperties !== false && !sameWord(name, known)) return true
  if (found.problems.length >= mostProblems) return false
  const meant = sameWord(name, Object.keys(found.absent))
  const required = known.filter((one) => isRequired(one, schema) && !Object.hasOwn(object, one))
  found.problems.push(
    meant === undefined
      ? unknownArgument(path, known, required)
      : { argument: path.join('.'), message: `no such argument. ${found.absent[meant]}` },
  )
  return false
}

const isRequired = (name: string, { required }: JsonSchema) => required?.includes(name) ?? false

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length === 0

const schemaOf = (schema: unknown): JsonSchema =>
  typeof schema === 'object' && schema !== null ? { ...schema } : {}

/** Some clients send objects and arrays as JSON text. */
function unpackedJson(value: unknown, { type }: JsonSchema): unknown {
  if (typeof value !== 'string') return value
  if ((type !== 'object' && type !== 'array') || !/^\s*[{[]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function unknownArgument(path: string[], known: string[], missing: string[]): ArgumentProblem {
  const name = path.at(-1) ?? ''
  // Comparing costs time, so only texts that could be names are compared.
  const meant =
    name.length > 64 ? undefined : (closestWord(name, missing) ?? closestWord(name, known))
  const hint = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}`
  return { argument: path.join('.'), message: `no such argument; ${hint}` }
}

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
  if (type === 'boolean') return meantBoolean(text.toLowerCase())
  if (type === 'integer' || type === 'number') return meantNumber(text)
  if (choices === undefined || choices.includes(text)) return undefined
  return choices.find((choice) => String(choice).toLowerCase() === text.toLowerCase())
}

function meantBoolean(text: string): boolean | undefined {
  if (text === 'true') return true
  return text === 'false' ? false : undefined
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

/*
 * Where a request names a field differently from the replies: callers who have just read a reply often
 * use its name. The pairs are those of the platform's reference, by route.
 */

/** What a reply calls a field, and what the request calls it; dotted for fields within objects. */
type ReplyNames = Readonly<Record<string, string>>

/** Of an object in a reply, a request takes one field: `{"id":"…","name":"…"}` stands for its id. */
type ReplyObjects = Readonly<Record<string, string>>

const agent: ReplyNames = { id: 'agent_id' }
const phoneNumber: ReplyNames = {
  friendly_name: 'name',
  sip_trunk: 'sip_trunk_id',
  inbound_agent: 'inbound_agent_id',
}
/** Of the catalogs. Both are required in a new agent; elsewhere an `id` may be a field of the provider. */
const catalogs: ReplyNames = { 'model.id': 'model.model', 'voice.id': 'voice.voice_id' }

/** By the id of the route. Names that the arguments of a tool have themselves are not replaced. */
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
 * Fields of a request that are one field of an object in replies: a trunk and an agent are given by
 * their ids, a provider of the catalogs and a language by their codes.
 */
const replyObjects: ReplyObjects = {
  sip_trunk_id: 'id',
  inbound_agent_id: 'id',
  provider: 'code',
  language: 'code',
  languages: 'code',
}
