import type { JsonSchema } from '../../contract/json-schema.ts'

/** The names of the fields in an object or in the items of an array, inner ones in brackets. */
export function fieldNames(schema: JsonSchema): string {
  const { properties, items } = withFields(schema)
  if (properties === undefined) return isSchema(items) ? fieldNames(items) : ''
  return Object.entries(properties)
    .map(([name, field]) => {
      const inner = isSchema(field) ? fieldNames(field) : ''
      return inner ? `${name} (${inner})` : name
    })
    .join(', ')
}

/** Of a field that may also be null or a plain value, the schema that has fields. */
const withFields = (schema: JsonSchema): JsonSchema =>
  schema.anyOf?.find(({ properties, items }) => properties ?? items) ?? schema

const isSchema = (schema: unknown): schema is JsonSchema =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema)
