import * as z from 'zod'
import { Account } from './account.ts'
import { Agent } from './agent.ts'
import { Call, CallDetail, PlacedCall } from './call.ts'
import { Conversation, Message } from './conversation.ts'
import { ErrorEnvelope, type ErrorStatus } from './error.ts'
import { type JsonSchema, jsonSchemaOf, tidy } from './json-schema.ts'
import { examples, parameterExamples } from './openapi-examples.ts'
import { PhoneNumber } from './phone-number.ts'
import { ModelCatalog, TranscriberCatalog, VoiceCatalog } from './provider.ts'
import type { Route } from './route.ts'
import { SipTrunk } from './sip-trunk.ts'
import { TemplateValidation } from './template.ts'
import { Usage } from './usage.ts'

/** Reply schemas that have a name in `components`. All other schemas are inlined. */
const components = {
  Account,
  Agent,
  Call,
  CallDetail,
  Conversation,
  ErrorEnvelope,
  Message,
  ModelCatalog,
  PhoneNumber,
  PlacedCall,
  SipTrunk,
  TemplateValidation,
  TranscriberCatalog,
  Usage,
  VoiceCatalog,
}

const registry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(components)) registry.add(schema, { id })

/** Description of the whole API: the rules that apply to every operation. */
const description = [
  'Errors have one shape, `ErrorEnvelope`.',
  'Unknown request fields are ignored, and replies may hold more fields than are listed.',
  'When something is created, null means the default. PATCH is partial: an absent field stays as it is, null clears one that allows it or resets it to its default.',
  'A query parameter that is a list may be repeated or separated by commas.',
  'Where a query parameter with a single value is repeated, the last one counts.',
].join(' ')

/** Creates the OpenAPI 3.1.0 document of the API from the routes; title and version are [B]. */
export function openApiDocument(routes: readonly Route[]) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Voice Agent Platform API v1', version: '1.0.0', description },
    // Relative to the address of this document.
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      schemas: componentSchemas(),
      parameters: Object.fromEntries(
        routes.flatMap(({ params }) => parametersOf('path', params)).map((one) => [one.name, one]),
      ),
      responses: Object.fromEntries(
        statuses.map((status) => [`Error${status}`, errorResponse(status)]),
      ),
      examples: Object.fromEntries(
        Object.entries(examples).map(([name, value]) => [name, { value }]),
      ),
    },
  }
}

function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, {
    io: 'output',
    reused: 'inline',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema),
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]),
  )
}

function operation(route: Route) {
  const parameters = [
    ...Object.keys(route.params.shape).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...parametersOf('query', route.query),
  ]
  return {
    operationId: route.id.replace('.', '_'),
    summary: route.summary,
    tags: [nounOf(route)],
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: true,
        content: json(requestSchema(route), exampleNames(`${route.id}.body`)),
      },
    }),
    responses: { ...successResponses(route), ...errorResponses(route) },
  }
}

const nounOf = (route: Route) => route.id.split('.')[0] ?? ''

/** Descriptions of the parameters whose schemas do not describe them enough. */
const parameterNotes: Readonly<Record<string, string>> = {
  account_id: 'Account or subaccount id; `me` stands for the account of the API key.',
  group_by: 'Split each bucket by these; repeated, or separated by commas.',
  tags: 'All of these must match; repeated, or separated by commas.',
}

function parametersOf(where: 'path' | 'query', schema: z.ZodObject) {
  const { properties = {}, required = [] } = documented(jsonSchemaOf(schema, 'input'))
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(name in parameterNotes && { description: parameterNotes[name] }),
    schema: property,
    ...(name in parameterExamples && { example: parameterExamples[name] }),
  }))
}

const requestSchema = (route: Route): JsonSchema =>
  route.body
    ? documented(jsonSchemaOf(route.body, 'input', { defaults: route.method !== 'PATCH' }))
    : {}

/**
 * A request schema as the document shows it. Unknown fields are allowed, because the platform
 * ignores them [S]. Integers have the range in which JSON numbers are exact.
 */
function documented(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === 'additionalProperties' && value === false) return undefined
    if (value?.type !== 'integer') return value
    return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...value }
  })
}

function replySchema(reply: z.ZodType): JsonSchema {
  const id = registry.get(reply)?.id
  if (id) return { $ref: `#/components/schemas/${id}` }
  // The schema is inlined. If it is a page, its items refer to a component.
  const schema = jsonSchemaOf(reply, 'output')
  const item = reply instanceof z.ZodObject ? reply.shape.items : undefined
  if (!(item instanceof z.ZodArray) || !(item.element instanceof z.ZodType)) return schema
  const itemId = registry.get(item.element)?.id
  const items = { type: 'array' as const, items: { $ref: `#/components/schemas/${itemId}` } }
  return { ...schema, properties: { ...schema.properties, items } }
}

/** The names of examples that equal `prefix` or begin with `prefix.`. */
const exampleNames = (prefix: string) =>
  Object.keys(examples).filter((name) => name === prefix || name.startsWith(`${prefix}.`))

const json = (schema: JsonSchema, names: string[]) => ({
  'application/json': {
    schema,
    examples: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/examples/${name}` }]),
    ),
  },
})

function successResponses(route: Route) {
  const { reply, success } = route
  if (!reply) return { [success]: { description: 'Done.' } }
  const own = exampleNames(`${route.id}.reply`)
  const isPage = registry.get(reply) === undefined
  const names = own.length > 0 ? own : [`${nounOf(route)}.${isPage ? 'page' : 'one'}`]
  const schema = replySchema(reply)
  const repeated = exampleNames(`${route.id}.repeated`)
  return {
    [success]: { description: 'Success.', content: json(schema, names) },
    ...(repeated.length > 0 && {
      200: {
        description: 'A call with this external_id exists: it is returned, and no call is placed.',
        content: json(schema, repeated),
      },
    }),
  }
}

/** All error statuses except 405, which no documented operation returns. */
type DocumentedStatus = Exclude<ErrorStatus, 405>

const errorMeanings: Record<DocumentedStatus, string> = {
  400: 'The request cannot be read: not JSON, nested too deeply, or a badly encoded path.',
  401: 'The API key is missing or not valid.',
  403: 'The API key has no access, or the account is disabled.',
  404: 'It does not exist, or something that the body refers to does not.',
  409: 'It conflicts with what is stored.',
  422: 'A field is not valid; `errors` names it.',
  429: 'Too many requests; see Retry-After.',
  500: 'The platform failed.',
}
const statuses = Object.keys(errorMeanings).map(Number) as DocumentedStatus[]

const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait.',
    schema: { type: 'integer', minimum: 0 },
    example: 30,
  },
}

function errorResponse(status: DocumentedStatus) {
  return {
    description: errorMeanings[status],
    ...(status === 429 && { headers: retryAfter }),
    content: json({ $ref: '#/components/schemas/ErrorEnvelope' }, exampleNames(`error.${status}`)),
  }
}

/**
 * Operations that can answer 409: the number already exists, or the trunk has phone numbers [S].
 */
const conflicting = ['phone_numbers.create', 'phone_numbers.update', 'sip_trunks.delete']

/**
 * The error replies of an operation: every status, but 409 only for an operation that can conflict.
 */
function errorResponses(route: Route) {
  return Object.fromEntries(
    statuses
      .filter((status) => status !== 409 || conflicting.includes(route.id))
      .map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
  )
}
