import * as z from 'zod'
import { Account } from './account.ts'
import { Agent } from './agent.ts'
import { Call, CallDetail, PlacedCall } from './call.ts'
import { Conversation, Message } from './conversation.ts'
import { ErrorEnvelope, type errorCodes } from './error.ts'
import { type JsonSchema, jsonSchemaOf, tidy } from './json-schema.ts'
import { PhoneNumber } from './phone-number.ts'
import { ModelCatalog, TranscriberCatalog, Voice, VoiceCatalog } from './provider.ts'
import type { Route } from './route.ts'
import { SipTrunk } from './sip-trunk.ts'
import { TemplateValidation } from './template.ts'
import { Usage } from './usage.ts'

/** Reply objects that get a name in `components`; the rest stands where it is used. */
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
  Voice,
  VoiceCatalog,
}

const registry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(components)) registry.add(schema, { id })

/** The OpenAPI 3.1.0 document of the API [B: title, version], made from the routes alone. */
export function openApiDocument(routes: readonly Route[]) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Voice Agent Platform API v1', version: '1.0.0' },
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      schemas: componentSchemas(),
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
  const parameters = [...parametersOf('path', route.params), ...parametersOf('query', route.query)]
  const ok = route.reply
    ? { description: 'Success.', content: json(replySchema(route.reply)) }
    : { description: 'Done.' }
  return {
    operationId: route.id.replace('.', '_'),
    summary: route.summary,
    tags: [route.id.split('.')[0]],
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: true,
        content: json(requestSchema(route)),
      },
    }),
    responses: { [route.success]: ok, ...errorResponses(route) },
  }
}

function parametersOf(where: 'path' | 'query', schema: z.ZodObject) {
  const { properties = {}, required = [] } = jsonSchemaOf(schema, 'input')
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: property,
  }))
}

const requestSchema = (route: Route): JsonSchema =>
  route.body
    ? openToMore(jsonSchemaOf(route.body, 'input', { defaults: route.method !== 'PATCH' }))
    : {}

/** The platform ignores unknown request fields [S], so the document must not forbid them. */
function openToMore(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  )
}

function replySchema(reply: z.ZodType): JsonSchema {
  const id = registry.get(reply)?.id
  if (id) return { $ref: `#/components/schemas/${id}` }
  // A page: its items are a component.
  const schema = jsonSchemaOf(reply, 'output')
  const item = reply instanceof z.ZodObject ? reply.shape.items : undefined
  if (!(item instanceof z.ZodArray) || !(item.element instanceof z.ZodType)) return schema
  const itemId = registry.get(item.element)?.id
  const items = { type: 'array' as const, items: { $ref: `#/components/schemas/${itemId}` } }
  return { ...schema, properties: { ...schema.properties, items } }
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } })

const errorMeanings: Record<keyof typeof errorCodes, string> = {
  400: 'The request cannot be read.',
  401: 'The API key is missing or not valid.',
  403: 'The API key has no access, or the account is disabled.',
  404: 'There is no such thing.',
  409: 'It conflicts with what is there.',
  422: 'A field is not valid; `errors` names it.',
  429: 'Too many requests; see Retry-After.',
  500: 'The platform failed.',
}

/** The statuses an operation can fail with; 409 only where it changes something. */
function errorResponses(route: Route) {
  return Object.fromEntries(
    Object.entries(errorMeanings)
      .filter(([status]) => status !== '409' || route.effect !== 'reads')
      .map(([status, description]) => [
        status,
        { description, content: json({ $ref: '#/components/schemas/ErrorEnvelope' }) },
      ]),
  )
}
