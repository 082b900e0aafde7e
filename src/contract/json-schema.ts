import * as z from 'zod'

/** A JSON Schema (2020-12) object. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * JSON Schema of a zod schema, without what costs tokens or fails in clients: no `$schema`, no
 * `$ref` or `$defs`, no bounds that only say "safe integer", no pattern where a format says the same.
 *
 * `input` is what a caller sends: a plain object allows no unknown fields. `output` is what a reply
 * may hold: loose objects allow any. `defaults: false` is for a partial update, where an absent field
 * stays as it is, so that a default would be wrong.
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
      // A reply is read with its defaults filled in.
      if (!defaults || io === 'output') delete jsonSchema.default
    },
  })
  return rest
}

/**
 * The same schema without null: some model providers reject a request in which any tool has a list
 * of types, or `null` as a type.
 */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  const types = anyOf?.filter(({ type }) => type !== 'null').map(withoutNull)
  const own = Object.fromEntries(
    Object.entries(rest).map(([word, value]) => [word, withoutNullIn(word, value)]),
  )
  // Keywords beside anyOf, such as its description, win over those of the only type that is left.
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

/** The schema `true` allows anything, as `{}` does. */
const objectOf = (schema: unknown): JsonSchema =>
  typeof schema === 'object' && schema !== null ? { ...schema } : {}

/** Removes from one node what says nothing; also used for the OpenAPI document. */
export function tidy(zodSchema: z.core.$ZodType, node: JsonSchema): void {
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum
  if (node.format) delete node.pattern
  // A plain z.object drops unknown fields when it parses; to a caller they are not accepted.
  if (zodSchema instanceof z.ZodObject && !zodSchema.def.catchall) node.additionalProperties = false
  if (zodSchema instanceof z.ZodRecord) delete node.propertyNames
  // `{}` and `true` both allow anything; some clients warn about `{}`.
  if (isEmpty(node.additionalProperties)) node.additionalProperties = true
}

const isEmpty = (schema: unknown) =>
  typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0
