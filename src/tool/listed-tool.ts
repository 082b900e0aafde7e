import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { pageQuery } from '../contract/field.ts'
import { type JsonSchema, jsonSchemaOf } from '../contract/json-schema.ts'
import type { Route } from '../contract/route.ts'
import { isObject } from '../text/json.ts'
import { fieldsOption } from './lists/list-result.ts'
import type { ListingDetail, Tool } from './tool.ts'

type ToolFacts = Pick<Tool, 'name' | 'title' | 'description' | 'route' | 'effect'> & {
  readonly inputSchema: JsonSchema
  /** The tool's own output schema, without the fields that all results have. */
  readonly output: z.ZodObject
}

/** A tool as `tools/list` shows it. `pinned`: callers cannot choose the account. */
export function listedTool(
  { name, title, description, route, effect, inputSchema, output }: ToolFacts,
  account: 'any' | 'pinned',
  detail: ListingDetail = {},
): ProtocolTool {
  return {
    name,
    title,
    description: account === 'any' ? description : withoutAccountSentences(description),
    inputSchema: objectSchema(listedSchema(inputSchema, account, detail)),
    outputSchema: objectSchema(listedOutputSchema(jsonSchemaOf(output, 'output'))),
    annotations: annotationsOf(route, effect),
  }
}

/**
 * Annotations of a tool as the protocol defines them, without `title`. Since revision 2025-06-18
 * the tool has its own title; older clients show the name.
 */
function annotationsOf({ method, openWorld }: Route, effect: Route['effect']) {
  return {
    readOnlyHint: effect === 'reads',
    // False would mean "only additive updates". A PATCH overwrites, and a call cannot be undone.
    destructiveHint: effect === 'destroys' || effect === 'bills' || method === 'PATCH',
    idempotentHint: effect === 'reads' || method === 'PATCH' || method === 'DELETE',
    openWorldHint: openWorld,
  }
}

/** Removes the sentences about choosing an account. */
const withoutAccountSentences = (description: string) =>
  description
    .split(/(?<=\.) /)
    .filter((sentence) => !accountArguments.some((name) => sentence.includes(name)))
    .join(' ')

/** zod's type of a JSON Schema allows values that are not JSON; the actual values are JSON. */
function objectSchema(schema: JsonSchema): ProtocolTool['inputSchema'] {
  return { ...(schema as ProtocolTool['inputSchema']), type: 'object' }
}

/** Arguments that choose accounts. `tools/list` omits them for a pinned account. */
export const accountArguments = ['account_id', 'include_subaccounts', 'to_account_id'] as const

/** How much `tools/list` shows of a field. */
type FieldDetail = 'all' | 'undescribed' | 'type'

/**
 * A compact input schema for tools/list. Arguments are always parsed with the complete schema, and
 * errors name the known fields. `pinned`: omits the arguments that choose accounts.
 */
function listedSchema(
  schema: JsonSchema,
  account: 'any' | 'pinned',
  detail: ListingDetail,
): JsonSchema {
  const { account_id, include_subaccounts, to_account_id, ...properties } = schema.properties ?? {}
  const last = account === 'any' ? { to_account_id, include_subaccounts, account_id } : {}
  const shown = Object.entries({ ...properties, ...last }).filter(
    ([name, field]) => field !== undefined && !detail.hidden?.includes(name),
  )
  // The server's instructions describe these arguments once for all tools.
  const typesOnly = ['account_id', 'include_subaccounts', ...(detail.typesOnly ?? [])]
  return {
    ...schema,
    properties: mapFields(Object.fromEntries(shown), (name, field) =>
      listedArgument(name, field, detail, typesOnly.includes(name) ? 'type' : 'all'),
    ),
  }
}

const mapFields = (
  fields: Record<string, unknown>,
  change: (name: string, field: JsonSchema) => JsonSchema,
): NonNullable<JsonSchema['properties']> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, change(name, { ...Object(field) })]),
  )

function listedArgument(
  name: string,
  schema: JsonSchema,
  listing: ListingDetail,
  detail: FieldDetail,
): JsonSchema {
  if (listing.describedElsewhere?.includes(name))
    return { type: 'object', additionalProperties: true, description: schema.description ?? '' }
  if (detail === 'type' && schema.properties) return openObject(schema)
  const innerDetail = listing.undescribed?.includes(name) ? 'undescribed' : detail
  const { properties, items, ...keywords } = schema
  return {
    ...listedKeywords(name, keywords, detail),
    ...(properties && {
      properties: mapFields(properties, (inner, field) =>
        listedArgument(inner, field, listing, innerDetail),
      ),
    }),
    ...(items !== undefined && {
      items: listedArgument(name, withoutMaxLength({ ...Object(items) }), listing, detail),
    }),
  }
}

const openObject = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: true,
  description: `${fieldNames(schema)}.`,
})

const withoutMaxLength = ({ maxLength: _, ...keywords }: JsonSchema): JsonSchema => keywords

/**
 * Omits keywords that models do not need: minimum length 1, list lengths, the E.164 pattern, and
 * descriptions that repeat the name.
 */
function listedKeywords(
  name: string,
  { minLength: _, pattern: __, minItems: ___, maxItems: ____, ...keywords }: JsonSchema,
  detail: FieldDetail,
): JsonSchema {
  // Converters for strict function calling close every object that is not explicitly open.
  if (keywords.additionalProperties !== true) delete keywords.additionalProperties
  if (detail === 'type') {
    const { type, additionalProperties } = keywords
    return { ...(type && { type }), ...(additionalProperties && { additionalProperties }) }
  }
  if (detail !== 'all' || isPlain(name, keywords)) delete keywords.description
  return keywords
}

/**
 * Descriptions of the arguments that all lists share. The server's instructions describe them once.
 */
const ofEveryList = [pageQuery.limit.unwrap(), pageQuery.offset.unwrap(), fieldsOption.fields].map(
  ({ description }) => description,
)

/** Words that add nothing to the name of an argument. */
const fillers = new Set(
  `answers background call calls display first gender in incoming last maximum noise of one only
  output show speaks suppression that the this to turn voice voices with`.split(/\s+/),
)

/** True if a description only repeats the name. */
function isPlain(name: string, { description = '', format }: JsonSchema): boolean {
  const isTimeFilter = format === 'date-time' && /_(gt|ge|lt|le|after|before)$/.test(name)
  const known = new Set(name.split('_'))
  const words = description.toLowerCase().match(/[a-z]+/g) ?? []
  const isTheName = words.every((word) => known.has(word) || fillers.has(word))
  return isTimeFilter || isTheName || ofEveryList.includes(description)
}

/**
 * A compact output schema for tools/list: all field names, the types of fields that are never null,
 * and the required fields. Objects and arrays are open; their descriptions name their fields.
 * Clients validate results with this schema, so it allows everything that the complete schema
 * allows. The complete schemas are in docs/tools-reference.md.
 */
function listedOutputSchema({ properties = {}, required }: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: mapFields(properties, (_, field) => listedField(field)),
    ...(required && { required }),
  }
}

function listedField(schema: JsonSchema): JsonSchema {
  const { type } = schema
  const names = fieldNames(schema)
  return {
    ...(typeof type === 'string' && { type }),
    ...(names && { description: `${names}.` }),
  }
}

/** The names of the fields in an object or in an array's items. Nested names are in brackets. */
function fieldNames(schema: JsonSchema): string {
  const { properties, items } = withFields(schema)
  if (properties === undefined) return isSchema(items) ? fieldNames(items) : ''
  return Object.entries(properties)
    .map(([name, field]) => {
      const inner = isSchema(field) ? fieldNames(field) : ''
      return inner ? `${name} (${inner})` : name
    })
    .join(', ')
}

/** The alternative with fields, if the schema also allows null or a plain value. */
const withFields = (schema: JsonSchema): JsonSchema =>
  schema.anyOf?.find(({ properties, items }) => properties ?? items) ?? schema

const isSchema = (schema: unknown): schema is JsonSchema => isObject(schema)
