import type * as z from 'zod'
import { type JsonSchema, schemaOf } from '../contract/json-schema.ts'
import type { RouteRequest } from '../contract/route.ts'
import { settledAccount } from '../platform/sessions/account.ts'
import { closestWord, sameWord } from '../text/closest-match.ts'
import { boundExceededByValue, isObject, type JsonBound, type JsonBounds } from '../text/json.ts'
import { uncapitalised } from '../text/labels.ts'
import { clearArgument, clearName, clearProblems, withNulls } from './clear-argument.ts'
import { coerceArguments, unpackedJson } from './coercion.ts'
import type { ArgumentProblem } from './refused.ts'
import type { AbsentFields, Tool } from './tool.ts'

export type ParsedArguments = Parsed | { ok: false; problems: readonly ArgumentProblem[] }

interface Parsed {
  ok: true
  /** The request to send. Its body has null for the fields to clear. */
  request: RouteRequest
  options: Record<string, unknown>
  /** Dotted paths of the fields to clear. */
  cleared: readonly string[]
  /** Dotted paths of nulls that were ignored although they may be meant to clear a field. */
  ignoredNulls: readonly string[]
  /** One text per coerced value. */
  coercions: readonly string[]
}

/**
 * Parses the arguments of a tool. Unpacks objects that a client sent as JSON text. Reads null as
 * 'not given'. Reports an unknown argument with the closest known one. Everything else is parsed
 * with the route's schemas and split into path, query, body and the tool's own arguments. A value
 * that a schema refuses is coerced if it has only one reading (coercion.ts).
 */
export function parseArguments(
  tool: Tool,
  given: Record<string, unknown>,
  pinnedAccount?: string,
): ParsedArguments {
  const limitProblem = argumentLimitProblem(given)
  if (limitProblem) return { ok: false, problems: [limitProblem] }
  const asGiven = parseAsGiven(tool, given, pinnedAccount)
  if (asGiven.ok) return asGiven
  const { value, coercions } = coerceArguments(given, tool)
  if (coercions.length === 0) return asGiven
  const asMeant = parseAsGiven(tool, value, pinnedAccount)
  return asMeant.ok ? { ...asMeant, coercions } : asMeant
}

type Fields = Readonly<Record<string, unknown>>

function parseAsGiven(
  tool: Tool,
  given: Fields,
  pinnedAccount: string | undefined,
): ParsedArguments {
  const normalised = normaliseArguments(given, tool.inputSchema(), tool.absent)
  const parsed = tool.input.safeParse(normalised.value, { reportInput: true })
  const isOtherAccount =
    pinnedAccount !== undefined && (given.account_id ?? pinnedAccount) !== pinnedAccount
  const problems = [
    ...(isOtherAccount
      ? [{ argument: 'account_id', message: `this server acts on ${pinnedAccount} only` }]
      : []),
    ...normalised.problems,
    ...(parsed.error ? ofTypesFirst(parsed.error.issues).map((one) => problemOf(one, tool)) : []),
  ]
  if (problems.length > 0 || !parsed.success) return { ok: false, problems }
  const { data } = parsed
  const request = requestOf(tool, data, pinnedAccount)
  const cleared = clearArgument.parse(data[clearName]) ?? []
  const ignoredNulls = normalised.nulls.filter((path) => mayMeanToClear(path, tool))
  const refused =
    cleared.length > 0
      ? clearProblems(tool, request.body ?? {}, cleared)
      : unchangedProblems(tool, { request, data, ignoredNulls })
  if (refused.length > 0) return { ok: false, problems: refused }
  return {
    ok: true,
    request:
      cleared.length > 0
        ? { ...request, body: withNulls(tool, request.body ?? {}, cleared) }
        : request,
    options: pick(data, tool.options.shape),
    cleared,
    ignoredNulls,
    coercions: [],
  }
}

/**
 * Normalises arguments at every depth: unpacks objects and arrays that a client sent as JSON text,
 * drops declared fields that are null, and reports unknown names. Undeclared fields of open objects
 * are data and stay unchanged, including null. `absent` explains names that the API does not have.
 */
export function normaliseArguments(given: unknown, schema: JsonSchema, absent: AbsentFields = {}) {
  const found: Found = { problems: [], nulls: [], absent }
  return { value: normalised(given, schema, [], found), ...found }
}

interface Found {
  readonly problems: ArgumentProblem[]
  /** Dotted paths of declared fields that were null, which means 'not given'. */
  readonly nulls: string[]
  readonly absent: AbsentFields
}

const maxProblems = 20

function normalised(value: unknown, schema: JsonSchema, path: string[], found: Found): unknown {
  const unpacked = unpackedJson(value, schema)
  if (Array.isArray(unpacked)) {
    const items = schemaOf(schema.items)
    return unpacked.map((item, at) => normalised(item, items, [...path, String(at)], found))
  }
  if (typeof unpacked !== 'object' || unpacked === null) return unpacked
  const properties = schema.properties ?? {}
  return Object.fromEntries(
    Object.entries(unpacked).flatMap(([name, field]) => {
      const here = [...path, name]
      if (!Object.hasOwn(properties, name))
        return isAccepted(here, unpacked, schema, found) ? [[name, field]] : []
      if (field === null) {
        found.nulls.push(here.join('.'))
        return []
      }
      const nullsBefore = found.nulls.length
      const inner = normalised(field, schemaOf(properties[name]), here, found)
      // An object whose fields are all null counts as not given: some clients send every declared
      // field.
      const wasEmptied =
        isObject(inner) && Object.keys(inner).length === 0 && found.nulls.length > nullsBefore
      return wasEmptied && !isRequired(name, schema) ? [] : [[name, inner]]
    }),
  )
}

/** True if the schema accepts an undeclared name. Reports a name that it does not accept. */
function isAccepted(path: string[], object: object, schema: JsonSchema, found: Found): boolean {
  const name = path.at(-1) ?? ''
  const known = Object.keys(schema.properties ?? {})
  if (schema.additionalProperties !== false && !sameWord(name, known)) return true
  if (found.problems.length >= maxProblems) return false
  const meant = sameWord(name, Object.keys(found.absent))
  const required = known.filter((one) => isRequired(one, schema) && !Object.hasOwn(object, one))
  found.problems.push(
    meant === undefined
      ? unknownArgument(path, known, required)
      : { argument: path.join('.'), message: `no such argument. ${found.absent[meant]}` },
  )
  return false
}

const isRequired = (name: string, { required }: JsonSchema) => required?.includes(name) ?? false

function unknownArgument(path: string[], known: string[], missing: string[]): ArgumentProblem {
  const name = path.at(-1) ?? ''
  // Comparing words is slow, so only plausible names are compared.
  const meant =
    name.length > 64 ? undefined : (closestWord(name, missing) ?? closestWord(name, known))
  const hint = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}`
  return { argument: path.join('.'), message: `no such argument; ${hint}` }
}

/**
 * True if null may be meant to clear the field. In an update it always may; in a creation, only if
 * the setting is nullable.
 */
const mayMeanToClear = (path: string, { route, clearable }: Tool): boolean =>
  route.method === 'PATCH'
    ? Object.hasOwn(route.body?.shape ?? {}, path.split('.', 1)[0] ?? '')
    : clearable.includes(path)

/** Reports an update that changes nothing. */
function unchangedProblems(
  tool: Tool,
  {
    request: { body = {} },
    data,
    ignoredNulls,
  }: { request: RouteRequest; data: Fields; ignoredNulls: readonly string[] },
): readonly ArgumentProblem[] {
  if (tool.route.method !== 'PATCH' || Object.keys(body).length > 0) return []
  if (tool.changes.some((name) => data[name] !== undefined)) return []
  const names = [...Object.keys(tool.route.body?.shape ?? {}), ...tool.changes].join(', ')
  const clearing = tool.clearable.length > 0 ? `, or what to clear in ${clearName}` : ''
  const nothing = `nothing to change; give at least one of ${names}${clearing}`
  const meant = ignoredNulls.filter((path) => tool.clearable.includes(path))
  const example = meant.length > 0 ? `, such as ${JSON.stringify({ [clearName]: meant })}` : ''
  const message =
    ignoredNulls.length > 0 && clearing
      ? `nothing to change: null means 'not given'; name what is to be cleared in ${clearName}${example}`
      : nothing
  return [{ argument: 'arguments', message }]
}

/** Keeps only the type issue of a value that has the wrong type. */
function ofTypesFirst(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const nameOf = ({ path }: z.core.$ZodIssue) => path.join('.')
  const wrong = new Set(issues.filter(({ code }) => code === 'invalid_type').map(nameOf))
  return issues.filter((one) => one.code === 'invalid_type' || !wrong.has(nameOf(one)))
}

function problemOf(issue: z.core.$ZodIssue, tool: Tool): ArgumentProblem {
  const argument = issue.path.join('.') || 'arguments'
  const example = listExample(issue, tool.inputSchema())
  if (example) return { argument, message: `expected a list, such as ${example}` }
  // A null field counts as not given, so a null here is an item of an array.
  if (issue.input === null) return { argument, message: 'cannot be null; leave it out' }
  if (issue.input !== undefined) return { argument, message: uncapitalised(issue.message) }
  const choices = issue.code === 'invalid_value' ? `; one of ${issue.values.join(', ')}` : ''
  return { argument, message: `required${choices}` }
}

const longestExample = 200

/** Suggests a list to a caller who gave a single text; `undefined` for other problems. */
function listExample({ code, input, path }: z.core.$ZodIssue, schema: JsonSchema) {
  const [name = '', ...inner] = path
  const { type, items }: JsonSchema = Object(schema.properties?.[String(name)])
  const isForList = type === 'array' && schemaOf(items).type === 'string' && inner.length === 0
  if (!isForList || code !== 'invalid_type' || typeof input !== 'string') return undefined
  const parts = input.split(',').map((part) => part.trim())
  return JSON.stringify(input.length > longestExample ? ['one', 'other'] : parts.filter(Boolean))
}

function requestOf(tool: Tool, data: Fields, pinnedAccount: string | undefined): RouteRequest {
  const { params, query, body } = tool.route
  const inPath = Object.fromEntries(
    Object.entries(pick(data, params.shape)).map(([name, id]) => [name, String(id)]),
  )
  return {
    params: { ...inPath, account_id: settledAccount(inPath.account_id, pinnedAccount) },
    query: { ...tool.defaults, ...pick(data, query.shape) },
    ...(body && { body: pick(data, body.shape) }),
  }
}

const pick = (data: Fields, shape: object) =>
  Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(shape, name)))

/** Limits of the arguments of one tool call. More is a mistake or an attack. */
const bounds: JsonBounds = { depth: 100, values: 10_000 }

const exceeded: Readonly<Record<JsonBound, string>> = {
  values: `more than ${bounds.values} values`,
  depth: `nested more than ${bounds.depth} deep`,
}

/**
 * Returns the reason why arguments cannot be sent unchanged; `undefined`: they can. JavaScript
 * would silently change such values, or overflow the stack.
 */
function argumentLimitProblem(given: unknown): ArgumentProblem | undefined {
  const bound = boundExceededByValue(given, bounds)
  const message = bound ? exceeded[bound] : inexactValue(given)
  if (message) return { argument: 'arguments', message }
  const path = brokenTextPath(given)
  return path === undefined ? undefined : { argument: path || 'arguments', message: brokenText }
}

/** Describes a number or name that JavaScript does not keep exactly. */
function inexactValue(value: unknown): string | undefined {
  if (typeof value === 'number') {
    const isExact =
      Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return isExact ? undefined : 'holds a number too large to be passed on exactly; send it as text'
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, '__proto__'))
    return 'holds the name __proto__, which cannot be passed on'
  for (const item of Object.values(value)) {
    const reason = inexactValue(item)
    if (reason) return reason
  }
  return undefined
}

/** Half of a surrogate pair is not a character (RFC 3629 §3). */
const brokenText = 'holds half of a character (broken Unicode), which cannot be passed on'

/**
 * The path of the first text or name with an unpaired surrogate. Platforms store such texts
 * differently, and may store two of them as the same text.
 */
function brokenTextPath(value: unknown, path: readonly string[] = []): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path.join('.')
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, item] of Object.entries(value)) {
    const at = name.isWellFormed() ? brokenTextPath(item, [...path, name]) : path.join('.')
    if (at !== undefined) return at
  }
  return undefined
}
