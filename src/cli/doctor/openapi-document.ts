import * as z from 'zod'
import { isObject } from '../../text/json.ts'

/** An operation in an OpenAPI document. */
export interface DocumentedOperation {
  readonly method: string
  /** Path as the document writes it. */
  readonly path: string
  readonly operationId: string | undefined
  readonly query: SchemaFields
  readonly body: SchemaFields
  /** Fields of a successful reply. */
  readonly reply: SchemaFields
}

/** Operations by method and path, regardless of the names of path parameters. */
export type DocumentedOperations = ReadonlyMap<string, DocumentedOperation>

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** Operations in an OpenAPI document; `undefined`: not an OpenAPI document. */
export function operationsIn(document: unknown): DocumentedOperations | undefined {
  if (!isObject(document) || !isObject(document.paths)) return undefined
  const found = new Map<string, DocumentedOperation>()
  for (const [path, item] of Object.entries(document.paths)) {
    if (!isObject(item)) continue
    for (const method of methods) {
      const operation = item[method]
      if (!isObject(operation)) continue
      const read = operationOf(operation, [item.parameters, operation.parameters], document)
      found.set(keyOf(method, path), { method: method.toUpperCase(), path, ...read })
    }
  }
  return found
}

/** Ignores the version in a path. A document may have it in the server URL instead. */
function keyOf(method: string, path: string): string {
  const at = path.indexOf('/v1/')
  const below = at < 0 ? path : path.slice(at + '/v1'.length)
  return `${method.toUpperCase()} ${below.replace(/\{[^}]*\}/g, '{}').replace(/\/$/, '')}`
}

function operationOf(
  operation: Readonly<Record<string, unknown>>,
  parameters: readonly unknown[],
  document: unknown,
): Omit<DocumentedOperation, 'method' | 'path'> {
  const { operationId, requestBody, responses } = operation
  const success = isObject(responses)
    ? Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
    : undefined
  return {
    operationId: typeof operationId === 'string' ? operationId : undefined,
    query: queryOf(parameters.flat(), document),
    body: contentOf(requestBody, document),
    reply: contentOf(success, document),
  }
}

const resolved = (node: unknown, document: unknown) =>
  isObject(node) && typeof node.$ref === 'string' ? referred(node.$ref, document) : node

const QueryParameter = z.object({
  in: z.literal('query'),
  name: z.string(),
  required: z.boolean().catch(false),
})

const queryOf = (parameters: readonly unknown[], document: unknown): SchemaFields =>
  new Map(
    parameters
      .flatMap((one) => QueryParameter.safeParse(resolved(one, document)).data ?? [])
      .map(({ name, required }) => [name, { isRequired: required, fields: noFields }]),
  )

/** Fields of a JSON body or response. */
function contentOf(node: unknown, document: unknown): SchemaFields {
  const holder = resolved(node, document)
  const content = isObject(holder) ? holder.content : undefined
  const json = isObject(content)
    ? Object.entries(content).find(([type]) => /json/.test(type))?.[1]
    : undefined
  return schemaFields(isObject(json) ? json.schema : undefined, document)
}

export interface SchemaField {
  readonly isRequired: boolean
  /** Nested fields; empty if the schema has none, or allows any. */
  readonly fields: SchemaFields
}

export type SchemaFields = ReadonlyMap<string, SchemaField>

/** Maximum depth of nested fields. No request or reply of the API is deeper. */
const deepest = 7

/** Maximum fields and subschemas of one schema: a document may refer to itself. */
const maxFields = 2000

/** Maximum depth of nested references and alternatives. Documents have two or three. */
const deepestParts = 50

const noFields: SchemaFields = new Map()

/**
 * Returns the fields of a schema in an OpenAPI document. References are followed. The fields of a
 * list are the fields of its items. Alternatives are merged; a field is required if all
 * alternatives require it.
 */
export function schemaFields(schema: unknown, document: unknown): SchemaFields {
  const budget = { left: maxFields }
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

/** A schema and the schemas that it is composed of, with references resolved. */
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

/** Resolves `#/components/…` in the document. */
function referred(reference: string, document: unknown): unknown {
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
