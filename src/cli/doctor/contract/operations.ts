import { isObject } from '../../../json/is-object.ts'
import { referred, type SchemaFields, schemaFields } from './schema-fields.ts'

/** An operation as an OpenAPI document describes it. */
export interface DocumentedOperation {
  readonly method: string
  /** As the document writes it. */
  readonly path: string
  readonly operationId: string | undefined
  /** Parameters of the query. */
  readonly query: SchemaFields
  readonly body: SchemaFields
  /** Of a success. */
  readonly reply: SchemaFields
}

/** Operations by method and path; the names of path parameters do not count. */
export type DocumentedOperations = ReadonlyMap<string, DocumentedOperation>

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** The operations in an OpenAPI document; `undefined`: it is none. */
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

/** Documents give paths with or without the version, which may stand in the address of the server. */
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

function queryOf(parameters: readonly unknown[], document: unknown): SchemaFields {
  const inQuery = parameters
    .map((one) => resolved(one, document))
    .filter((one) => isObject(one) && one.in === 'query' && typeof one.name === 'string')
  return new Map(
    inQuery.flatMap((one) =>
      isObject(one)
        ? [[String(one.name), { isRequired: one.required === true, fields: new Map() }] as const]
        : [],
    ),
  )
}

/** The fields of what a body or a response holds as JSON. */
function contentOf(node: unknown, document: unknown): SchemaFields {
  const holder = resolved(node, document)
  const content = isObject(holder) ? holder.content : undefined
  const json = isObject(content)
    ? Object.entries(content).find(([type]) => /json/.test(type))?.[1]
    : undefined
  return schemaFields(isObject(json) ? json.schema : undefined, document)
}
