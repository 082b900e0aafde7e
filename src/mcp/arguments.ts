import type * as z from 'zod'
import type { JsonSchema } from '../contract/json-schema.ts'
import type { RouteRequest } from '../contract/route.ts'
import { nearest } from './nearest.ts'
import type { Tool } from './tool.ts'

/** One argument that cannot be used, and why. */
export interface ArgumentProblem {
  /** Dotted path, such as `voice.settings.speed`. */
  readonly argument: string
  readonly message: string
}

export type ParsedArguments =
  | { ok: true; request: RouteRequest }
  | { ok: false; problems: ArgumentProblem[] }

/**
 * Reads a tool's arguments once, at the boundary: objects that a client sent as JSON text are
 * taken apart, unknown arguments are reported with the nearest real one, everything else is
 * parsed with the route's own schemas and sorted into path, query and body.
 */
export function parseArguments(tool: Tool, given: Record<string, unknown>): ParsedArguments {
  const problems: ArgumentProblem[] = []
  const value = normalise(withoutEmptyFilters(tool, given), tool.inputSchema(), [], problems)
  const parsed = tool.input.safeParse(value, { reportInput: true })
  if (!parsed.success) problems.push(...parsed.error.issues.map(problemOf))
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
  return { ok: true, request }
}

/** A query has no way to say null: clients that send it for "not given" mean just that. */
function withoutEmptyFilters(tool: Tool, given: Record<string, unknown>): Record<string, unknown> {
  const { shape } = tool.route.query
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== null || (name !== 'account_id' && !Object.hasOwn(shape, name)),
    ),
  )
}

/** Unpacks stringified objects and reports unknown names, all the way down. */
function normalise(
  value: unknown,
  schema: JsonSchema,
  path: string[],
  problems: ArgumentProblem[],
): unknown {
  const unpacked = typeof value === 'string' ? unpack(value, schema) : value
  if (Array.isArray(unpacked)) {
    const items = schemaOf(schema.items)
    return unpacked.map((item, at) => normalise(item, items, [...path, String(at)], problems))
  }
  if (typeof unpacked !== 'object' || unpacked === null) return unpacked
  const properties = schema.properties ?? {}
  return Object.fromEntries(
    Object.entries(unpacked).flatMap(([name, field]) => {
      const here = [...path, name]
      if (Object.hasOwn(properties, name)) {
        return [[name, normalise(field, schemaOf(properties[name]), here, problems)]]
      }
      if (schema.additionalProperties !== false) return [[name, field]]
      problems.push(unknownArgument(here, Object.keys(properties)))
      return []
    }),
  )
}

const schemaOf = (schema: unknown): JsonSchema =>
  typeof schema === 'object' && schema !== null ? { ...schema } : {}

/** Some clients send objects and arrays as JSON text. */
function unpack(text: string, schema: JsonSchema): unknown {
  const types = [schema.type, ...(schema.anyOf ?? []).map((option) => schemaOf(option).type)].flat()
  const wanted = types.includes('object') || types.includes('array')
  if (!wanted || types.includes('string') || !/^\s*[{[]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function unknownArgument(path: string[], known: string[]): ArgumentProblem {
  const name = path.at(-1) ?? ''
  const meant = nearest(name, known)
  const hint = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}`
  return { argument: path.join('.'), message: `no such argument; ${hint}` }
}

function problemOf(issue: z.core.$ZodIssue): ArgumentProblem {
  const argument = issue.path.join('.') || 'arguments'
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined
  return { argument, message: isMissing ? 'required' : lowerFirst(issue.message) }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function requestOf(tool: Tool, data: Record<string, unknown>): RouteRequest {
  const { params, query, body } = tool.route
  const pick = (shape: object) =>
    Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(shape, name)))
  const inPath = { account_id: 'me', ...pick(params.shape) }
  return {
    params: Object.fromEntries(Object.entries(inPath).map(([name, id]) => [name, String(id)])),
    query: pick(query.shape),
    ...(body && { body: pick(body.shape) }),
  }
}
