import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import * as z from 'zod'

/*
 * Parses an OpenAPI document as a client generator does: from its text alone, without the routes
 * that it was generated from.
 */

const Schema = z.record(z.string(), z.unknown())
export type Schema = z.output<typeof Schema>

const Content = z.object({
  'application/json': z.object({
    schema: Schema,
    examples: z.record(z.string(), z.object({ value: z.unknown() })),
  }),
})
const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean(),
  description: z.string().optional(),
  schema: Schema,
  example: z.unknown().optional(),
})
export type Parameter = z.output<typeof Parameter>

const Response = z.object({
  description: z.string(),
  headers: z.record(z.string(), z.object({ schema: Schema, example: z.unknown() })).optional(),
  content: Content.optional(),
})

const Operation = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ required: z.literal(true), content: Content }).optional(),
  responses: z.record(z.string(), Response),
})

const Document = z.object({
  openapi: z.literal('3.1.0'),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
})

/** A documented body, with a validator for its schema. */
export interface BodySpec {
  readonly schema: Schema
  readonly examples: Readonly<Record<string, { value?: unknown }>>
  readonly validate: ValidateFunction
}

/** An operation of the document with resolved references. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly noun: string
  readonly parameters: readonly (Parameter & { readonly validate: ValidateFunction })[]
  /** The request body; null if there is none. */
  readonly body: BodySpec | null
  /** Replies by status; a null body means none. */
  readonly responses: ReadonlyMap<
    number,
    z.output<typeof Response> & { readonly body: BodySpec | null }
  >
}

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** True for an RFC 3339 time, which is JSON Schema's `date-time`, without leap seconds. */
function isDateTime(text: string): boolean {
  const [year, month, day] = (dateTime.exec(text) ?? []).slice(1, 4).map(Number)
  if (year === undefined || month === undefined || day === undefined) return false
  // The years 0 and 2000 have the same calendar; JavaScript reads 0 to 99 as 1900 to 1999.
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** Parses a document's operations. Throws if it is not OpenAPI 3.1, or a schema is invalid. */
export function operationsOf(json: unknown): Operation[] {
  const { paths, components } = Document.parse(follow(json, json))
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
  ajv.addFormat('date-time', isDateTime)
  const compiled = new Map<string, ValidateFunction>()
  const compile = (schema: Schema): ValidateFunction => {
    const key = JSON.stringify(schema)
    const validate = compiled.get(key) ?? ajv.compile({ ...schema, components })
    compiled.set(key, validate)
    return validate
  }
  // Allows the keyword `components`, which `compile` adds to each schema to resolve its references.
  ajv.addVocabulary(['components'])
  const bodyOf = (content: z.output<typeof Content> | undefined): BodySpec | null => {
    const json = content?.['application/json']
    return json ? { ...json, validate: compile(json.schema) } : null
  }

  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      noun: operation.tags[0] ?? '',
      parameters: operation.parameters.map((parameter) => ({
        ...parameter,
        validate: compile(parameter.schema),
      })),
      body: bodyOf(operation.requestBody?.content),
      responses: new Map(
        Object.entries(operation.responses).map(([status, response]) => [
          Number(status),
          { ...response, body: bodyOf(response.content) },
        ]),
      ),
    })),
  )
}

/**
 * The value at a JSON pointer such as `#/components/schemas/Agent`; `undefined` if there is none.
 */
export function at(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      document,
    )
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Replaces every reference by its target, except references to schemas, which ajv resolves. */
function follow(document: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => follow(document, item))
  if (!isObject(value)) return value
  const { $ref } = value
  if (typeof $ref === 'string' && !$ref.startsWith('#/components/schemas/')) {
    return follow(document, at(document, $ref))
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, follow(document, inner)]),
  )
}
