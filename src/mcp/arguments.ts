import type * as z from 'zod'
import type { JsonSchema } from '../contract/json-schema.ts'
import type { RouteRequest } from '../contract/route.ts'
import { nearest, sameWord } from './nearest.ts'
import { insteadOfNull } from './null-advice.ts'
import { unsendable } from './sendable.ts'
import type { Tool } from './tool.ts'

/** One argument that cannot be used, and why. */
export interface ArgumentProblem {
  /** Dotted path, such as `voice.settings.speed`. */
  readonly argument: string
  readonly message: string
}

export type ParsedArguments =
  | { ok: true; request: RouteRequest; options: Record<string, unknown> }
  | { ok: false; problems: ArgumentProblem[] }

/**
 * Reads a tool's arguments once, at the boundary: objects that a client sent as JSON text are
 * taken apart, unknown arguments are reported with the nearest real one, everything else is
 * parsed with the route's own schemas and sorted into path, query, body and the tool's own.
 */
export function parseArguments(
  tool: Tool,
  given: Record<string, unknown>,
  pinnedAccount?: string,
): ParsedArguments {
  const reason = unsendable(given)
  if (reason) return { ok: false, problems: [{ argument: 'arguments', message: reason }] }
  const problems: ArgumentProblem[] = []
  // In an update null is a value; elsewhere clients that fill in every field mean "not given".
  const nullMeansAbsent = tool.route.method !== 'PATCH'
  const { account_id, ...rest } = given
  const named = account_id === null ? rest : given
  if (pinnedAccount !== undefined && (account_id ?? pinnedAccount) !== pinnedAccount) {
    problems.push({ argument: 'account_id', message: `this server acts on ${pinnedAccount} only` })
  }
  const value = normalise(named, tool.inputSchema(), [], { problems, nullMeansAbsent })
  const parsed = tool.input.safeParse(value, { reportInput: true })
  if (!parsed.success)
    for (const issue of parsed.error.issues) problems.push(problemOf(issue, tool))
  if (problems.length > 0 || !parsed.success) return { ok: false, problems }

  const request = requestOf(tool, parsed.data)
  if (tool.route.method === 'PATCH' && Object.keys(request.body ?? {}).length === 0) {
    const names = Object.keys(tool.route.body?.shape ?? {}).join(', ')
    return {
      ok: false,
      problems: [
        { argument: 'arguments', message: `nothing to change; give at least one of ${names}` },
      ],
    }
  }
  return { ok: true, request, options: pick(parsed.data, tool.options.shape) }
}

/** Unknown names that are told: by then it is clear that something is thoroughly wrong. */
const mostProblems = 20

interface Normalising {
  readonly problems: ArgumentProblem[]
  readonly nullMeansAbsent: boolean
}

/** Unpacks stringified objects and reports unknown names, all the way down. */
function normalise(value: unknown, schema: JsonSchema, path: string[], how: Normalising): unknown {
  const unpacked = typeof value === 'string' ? unpack(value, schema) : value
  if (Array.isArray(unpacked)) {
    const items = schemaOf(schema.items)
    return unpacked.map((item, at) => normalise(item, items, [...path, String(at)], how))
  }
  if (typeof unpacked !== 'object' || unpacked === null) return unpacked
  const properties = schema.properties ?? {}
  const isWanted = (name: string) => schema.required?.includes(name) ?? false
  return Object.fromEntries(
    Object.entries(unpacked).flatMap(([name, field]) => {
      const here = [...path, name]
      if (Object.hasOwn(properties, name)) {
        const property = schemaOf(properties[name])
        if (field === null && how.nullMeansAbsent && !isWanted(name) && !takes(property, 'null'))
          return []
        return [[name, normalise(field, property, here, how)]]
      }
      const known = Object.keys(properties)
      const misspelt = sameWord(name, known)
      if (schema.additionalProperties !== false && !misspelt) return [[name, field]]
      if (how.problems.length >= mostProblems) return []
      const missing = known.filter((one) => isWanted(one) && !Object.hasOwn(unpacked, one))
      how.problems.push(unknownArgument(here, known, missing))
      return []
    }),
  )
}

const schemaOf = (schema: unknown): JsonSchema =>
  typeof schema === 'object' && schema !== null ? { ...schema } : {}

/** Whether a schema takes values of a type. */
const takes = (schema: JsonSchema, type: 'null' | 'string' | 'array' | 'object'): boolean =>
  [schema, ...(schema.anyOf ?? []).map(schemaOf)]
    .flatMap(({ type: own }) => own ?? [])
    .some((own) => own === type)

/** Some clients send objects and arrays as JSON text. */
function unpack(text: string, schema: JsonSchema): unknown {
  const wanted = takes(schema, 'object') || takes(schema, 'array')
  if (!wanted || takes(schema, 'string') || !/^\s*[{[]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function unknownArgument(path: string[], known: string[], missing: string[]): ArgumentProblem {
  const name = path.at(-1) ?? ''
  // Comparing with every word costs time, so only what could be a name is compared.
  const meant = name.length > 64 ? undefined : (nearest(name, missing) ?? nearest(name, known))
  const hint = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}`
  return { argument: path.join('.'), message: `no such argument; ${hint}` }
}

function problemOf(issue: z.core.$ZodIssue, tool: Tool): ArgumentProblem {
  const argument = issue.path.join('.') || 'arguments'
  if (issue.input === null) {
    return { argument, message: `cannot be null${insteadOfNull(tool, issue.path)}` }
  }
  if (issue.input !== undefined) return { argument, message: lowerFirst(issue.message) }
  const choices = issue.code === 'invalid_value' ? `; one of ${issue.values.join(', ')}` : ''
  return { argument, message: `required${choices}` }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function requestOf(tool: Tool, data: Record<string, unknown>): RouteRequest {
  const { params, query, body } = tool.route
  const inPath = { account_id: 'me', ...pick(data, params.shape) }
  return {
    params: Object.fromEntries(Object.entries(inPath).map(([name, id]) => [name, String(id)])),
    query: { ...tool.defaults, ...pick(data, query.shape) },
    ...(body && { body: pick(data, body.shape) }),
  }
}

const pick = (data: Record<string, unknown>, shape: object) =>
  Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(shape, name)))
