import * as z from 'zod'

/** A JSON Schema (2020-12) object. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * JSON Schema of a zod schema, without the noise that costs tokens and trips clients: no
 * `$schema`, no `$ref` or `$defs`, no bounds that only say "safe integer", no pattern where a
 * format says the same.
 *
 * `input` is what a caller sends: a plain object takes no unknown fields. `output` is what a reply
 * may hold: loose objects take anything more. Without `defaults` for a partial update, where an
 * absent field stays as it is and a default would be a lie.
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
      if (!defaults) delete jsonSchema.default
    },
  })
  return rest
}

/**
 * The same schema for values that are never null. Where a type may be null, only the type is left:
 * some providers reject a request in which any tool has a list of types, or `null` as a type.
 */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  const types = anyOf?.filter(({ type }) => type !== 'null').map(withoutNull)
  const own = Object.fromEntries(
    Object.entries(rest).map(([word, value]) => [word, withoutNullIn(word, value)]),
  )
  // What is said of the choice as a whole, such as its description, wins over what is in it.
  return types?.length === 1 ? { ...types[0], ...own } : { ...own, ...(types && { anyOf: types }) }
}

function withoutNullIn(word: string, value: unknown): unknown {
  if (word === 'items') return withoutNull(objectOf(value))
  if (word === 'enum') return [value].flat().filter((one) => one !== null)
  if (word === 'properties')
    return Object.fromEntries(
      Object.entries(Object(value)).map(([name, field]) => [name, withoutNull(objectOf(field))]),
    )
  if (word !== 'type' || !Array.isArray(value)) return value
  const types = value.filter((type) => type !== 'null')
  return types.length === 1 ? types[0] : types
}

/** `true` takes anything, as `{}` does. */
const objectOf = (schema: unknown): JsonSchema =>
  typeof schema === 'object' && schema !== null ? { ...schema } : {}

/** Removes noise from one node; also used for the OpenAPI document. */
export function tidy(zodSchema: z.core.$ZodType, node: JsonSchema): void {
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum
  if (node.format) delete node.pattern
  // A plain z.object drops unknown fields when it parses; to a caller that is "not accepted".
  if (zodSchema instanceof z.ZodObject && !zodSchema.def.catchall) node.additionalProperties = false
  if (zodSchema instanceof z.ZodRecord) delete node.propertyNames
  // `{}` and `true` both take anything; some clients warn about the former.
  if (isEmpty(node.additionalProperties)) node.additionalProperties = true
}

const isEmpty = (schema: unknown) =>
  typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0
