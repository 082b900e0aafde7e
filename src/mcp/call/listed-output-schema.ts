import type { JsonSchema } from '../../contract/json-schema.ts'
import { fieldNames } from './field-names.ts'

/**
 * An output schema as tools/list shows it, in few tokens: every field by name, with the type of those
 * that are never null, and which are always there. Objects and arrays are open; their descriptions
 * name the fields in them. Whatever the whole schema allows, this one does: clients check results
 * with it. The whole schemas are in docs/tools.md.
 */
export function listedOutputSchema({ properties = {}, required }: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, listedField({ ...Object(field) })]),
    ),
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
