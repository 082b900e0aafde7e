import * as z from 'zod'
import { closestWord } from '../../text/closest-match.ts'
import { isObject } from '../../text/json.ts'
import type { Light } from './findings.ts'

/** A difference between the platform's OpenAPI document and this program's contract. */
export interface Difference {
  /** `red`: a feature fails; `yellow`: a feature behaves differently; `green`: for information. */
  readonly light: Exclude<Light, 'skipped'>
  /** The difference and its consequence. */
  readonly text: string
}

/** Returns the tools that use an operation, given its id in this program's OpenAPI document. */
type ToolsOf = (operationId: string | undefined) => readonly string[]

export function differences(
  ours: DocumentedOperations,
  theirs: DocumentedOperations,
  toolsOf: ToolsOf,
): Difference[] {
  const known = [...ours].flatMap(([key, operation]) => {
    const other = theirs.get(key)
    return other
      ? ofOperation(operation, other, toolsOf)
      : [missingOperation(operation, ours, theirs, toolsOf)]
  })
  const added = [...theirs]
    .filter(([key]) => !ours.has(key))
    .map(
      ([, { method, path }]): Difference => ({
        light: 'green',
        text: `${method} ${path} is new: no tool of this version uses it.`,
      }),
    )
  return worstFirst([...known, ...added])
}

const severity = { red: 0, yellow: 1, green: 2 } as const

/** Sorts by severity, because only the first differences are shown. */
export const worstFirst = (found: readonly Difference[]): Difference[] =>
  found.toSorted((one, other) => severity[one.light] - severity[other.light])

function missingOperation(
  { method, path, operationId }: DocumentedOperation,
  ours: DocumentedOperations,
  theirs: DocumentedOperations,
  toolsOf: ToolsOf,
): Difference {
  const added = [...theirs].filter(([key, one]) => !ours.has(key) && one.method === method)
  const meant = closestWord(
    path,
    added.map(([, one]) => one.path),
  )
  const tools = toolsOf(operationId)
  const what =
    tools.length === 0
      ? 'what needs it does'
      : `${tools.join(', ')} ${tools.length === 1 ? 'does' : 'do'}`
  return {
    light: 'red',
    text: `${method} ${path} is not offered${meant === undefined ? '' : ` (perhaps it is ${meant} now)`}: ${what} not work.`,
  }
}

function ofOperation(
  ours: DocumentedOperation,
  theirs: DocumentedOperation,
  toolsOf: ToolsOf,
): Difference[] {
  const tools = toolsOf(ours.operationId).join(', ')
  const where = tools === '' ? `${ours.method} ${ours.path}` : tools
  const { query, body, reply } = theirs
  return [
    ...fieldDifferences(ours.query, query, sent('parameter', where)),
    // A document may omit the schema of a body or a reply.
    ...(body.size > 0 ? fieldDifferences(ours.body, body, sent('field', where)) : []),
    ...(reply.size > 0 ? fieldDifferences(ours.reply, reply, replied(where)) : []),
  ]
}

/** Differences that a missing or an added field of a schema causes. */
interface Meaning {
  /** True if a missing field may have a new name. */
  readonly findsRenamed: boolean
  readonly missing: (name: string, field: SchemaField, now: string | undefined) => Difference
  readonly added: (name: string, field: SchemaField) => Difference
}

function fieldDifferences(
  ours: SchemaFields,
  theirs: SchemaFields,
  meaning: Meaning,
  prefix = '',
): Difference[] {
  const added = [...theirs].filter(([name]) => !ours.has(name))
  const renamed = new Set<string | undefined>()
  const known = [...ours].flatMap(([name, field]): Difference[] => {
    const other = theirs.get(name)
    if (other) {
      const isOpen = field.fields.size === 0 || other.fields.size === 0
      const inner = `${prefix}${name}.`
      return isOpen ? [] : fieldDifferences(field.fields, other.fields, meaning, inner)
    }
    const names = meaning.findsRenamed ? added.map(([one]) => one) : []
    const now = closestWord(name, names)
    renamed.add(now)
    return [meaning.missing(prefix + name, field, now)]
  })
  const fresh = added.filter(([name]) => !renamed.has(name))
  return [...known, ...fresh.map(([name, field]) => meaning.added(prefix + name, field))]
}

/**
 * Differences for query parameters or body fields. `where` names the affected tools, for messages.
 */
function sent(kind: 'parameter' | 'field', where: string): Meaning {
  const effect =
    kind === 'parameter'
      ? 'the platform may ignore it, and then results are not narrowed by it'
      : 'the platform may ignore it, and then it is not saved'
  return {
    findsRenamed: true,
    missing(name, _, now) {
      const what = now === undefined ? 'is not known there' : `seems to be called ${now} now`
      return { light: 'yellow', text: `${where}: the ${kind} ${name} ${what}: ${effect}.` }
    },
    added: (name, { isRequired }) =>
      isRequired
        ? {
            light: 'red',
            text: `${where}: the ${kind} ${name} is required now, and this version does not send it, so the platform refuses the request.`,
          }
        : {
            light: 'green',
            text: `${where}: the ${kind} ${name} is new; this version cannot send it.`,
          },
  }
}

/** Differences for fields of replies. Tools pass replies through unchanged. */
const replied = (where: string): Meaning => ({
  findsRenamed: false,
  missing: (name, { isRequired }) => ({
    light: isRequired ? 'yellow' : 'green',
    text: `${where}: results have no ${name}.`,
  }),
  added: (name) => ({
    light: 'green',
    text: `${where}: results also have ${name}, which is passed on as it is.`,
  }),
})

/** An operation in an OpenAPI document. */
interface DocumentedOperation {
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

interface SchemaField {
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
