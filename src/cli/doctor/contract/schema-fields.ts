import { isObject } from '../../../json/is-object.ts'

/** A field of a JSON schema. */
export interface SchemaField {
  readonly isRequired: boolean
  /** Its own fields; empty where it has none, or may have any. */
  readonly fields: SchemaFields
}

/** Fields by their names. */
export type SchemaFields = ReadonlyMap<string, SchemaField>

/** How deep fields within fields are read: no request or reply of the API goes deeper. */
const deepest = 7

/** Most fields and parts of one schema that are read: a document may refer to itself. */
const mostFields = 2000

/** How deep references and alternatives within each other are followed; a document has two or three. */
const deepestParts = 50

const noFields: SchemaFields = new Map()

/**
 * The fields of a schema in an OpenAPI document. References are followed; the items of a list count
 * as its fields; of several alternatives all fields are taken, required by all of them.
 */
export function schemaFields(schema: unknown, document: unknown): SchemaFields {
  const budget = { left: mostFields }
  const read = (node: unknown, depth: number): SchemaFields => {
    if (depth > deepest) return noFields
    const parts = partsOf(node, document, budget)
    const items = parts.find((part) => part.items !== undefined)?.items
    if (items !== undefined) return read(items, depth + 1)
    const all = new Map<string, SchemaField>()
    for (const part of parts) {
      const required = Array.isArray(part.required) ? part.required : []
      for (const [name, inner] of Object.entries(
        isObject(part.properties) ? part.properties : {},
      )) {
        if (budget.left-- <= 0) return all
        all.set(name, {
          isRequired: required.includes(name),
          fields: read(inner, depth + 1),
        })
      }
    }
    return all
  }
  return read(schema, 0)
}

type Part = Readonly<Record<string, unknown>>

/** A schema and what it is put together from, without references. */
function partsOf(node: unknown, document: unknown, budget: { left: number }, depth = 0): Part[] {
  if (!isObject(node) || depth > deepestParts || budget.left-- <= 0) return []
  if (typeof node.$ref === 'string') {
    return partsOf(referred(node.$ref, document), document, budget, depth + 1)
  }
  const several = [node.allOf, node.anyOf, node.oneOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  )
  return [node, ...several.flatMap((one) => partsOf(one, document, budget, depth + 1))]
}

/** What `#/components/…` refers to in the document. */
export function referred(reference: string, document: unknown): unknown {
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (outer, name) => (isObject(outer) && Object.hasOwn(outer, name) ? outer[name] : undefined),
      document,
    )
}
