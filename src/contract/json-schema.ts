import * as z from 'zod'

/** A JSON Schema (2020-12) object. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * Converts a zod schema to JSON Schema, without keywords that cost tokens or fail in clients: no
 * `$schema`, `$ref` or `$defs`, no bounds that only mean "safe integer", and no pattern next to a
 * format, which implies it.
 *
 * `input` describes what a caller sends: a plain object allows no unknown fields. `output`
 * describes a reply: loose objects allow any field. `defaults: false` is for partial updates, where
 * an absent field stays unchanged and a default would be wrong.
 */
export function jsonSchemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  { defaults = true }: { defaults?: boolean } = {},
): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    reused: 'inline',
    override: ({ zodSchema, jsonSchema }) => {
      tidy(zodSchema, jsonSchema)
      // An output schema needs no defaults, because a parsed reply has them filled in.
      if (!defaults || io === 'output') delete jsonSchema.default
    },
  })
  return rest
}

/**
 * The schema without null. Some model providers reject a request if any tool has a list of types,
 * or the type `null`.
 */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  const types = anyOf?.filter(({ type }) => type !== 'null').map(withoutNull)
  const own = Object.fromEntries(
    Object.entries(rest).map(([word, value]) => [word, withoutNullIn(word, value)]),
  )
  // If one type remains, the schema's own keywords, such as its description, override those of the
  // type.
  return types?.length === 1 ? { ...types[0], ...own } : { ...own, ...(types && { anyOf: types }) }
}

function withoutNullIn(word: string, value: unknown): unknown {
  if (word === 'items') return withoutNull(schemaOf(value))
  if (word === 'enum') return [value].flat().filter((one) => one !== null)
  if (word === 'properties')
    return Object.fromEntries(
      Object.entries(Object(value)).map(([name, field]) => [name, withoutNull(schemaOf(field))]),
    )
  if (word !== 'type' || !Array.isArray(value)) return value
  const types = value.filter((type) => type !== 'null')
  return types.length === 1 ? types[0] : types
}

/** A schema as an object; empty if there is none. `true` allows anything, as `{}` does. */
export const schemaOf = (schema: unknown): JsonSchema =>
  typeof schema === 'object' && schema !== null ? { ...schema } : {}

/** Removes keywords without meaning from one node. Also used for the OpenAPI document. */
export function tidy(zodSchema: z.core.$ZodType, node: JsonSchema): void {
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum
  if (node.format) delete node.pattern
  // A plain z.object drops unknown fields when it parses, but callers must not send any.
  if (zodSchema instanceof z.ZodObject && !zodSchema.def.catchall) node.additionalProperties = false
  if (zodSchema instanceof z.ZodRecord) delete node.propertyNames
  // Allows anything as `true`, because some clients warn about `{}`.
  if (isEmpty(node.additionalProperties)) node.additionalProperties = true
}

const isEmpty = (schema: unknown) =>
  typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0
