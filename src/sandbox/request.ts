import type * as z from 'zod'
import type { FieldError } from '../contract/error.ts'
import { nestsDeeperThan } from '../contract/nesting.ts'
import { decodeQuery } from '../contract/query.ts'
import type { Route } from '../contract/route.ts'
import { allRoutes } from '../contract/routes.ts'
import { Problem } from './problem.ts'

interface Pattern {
  route: Route
  expression: RegExp
}

/** Literal segments win over parameters: `accounts/current` is no account id. */
const patterns: Pattern[] = allRoutes
  .map((route) => ({
    route,
    expression: new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`),
  }))
  .sort((a, b) => parameterCount(a.route) - parameterCount(b.route))

function parameterCount(route: Route): number {
  return route.path.split('{').length
}

/** The route of a request and its path parameters; 404 or 405 when there is none. */
export function matchRoute(
  method: string,
  path: string,
): { route: Route; params: Record<string, string> } {
  const others = new Set<string>()
  for (const { route, expression } of patterns) {
    const match = expression.exec(path)
    if (match && route.method !== method) others.add(route.method)
    if (!match || route.method !== method) continue
    const params = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decode(text)])
    return { route, params: Object.fromEntries(params) }
  }
  if (others.size > 0)
    throw new Problem(405, `There is no ${method} of ${path}.`, { allow: others })
  throw new Problem(404, `There is no ${method} ${path}.`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Problem(400, 'The path is not properly encoded.')
  }
}

interface Input {
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: Record<string, unknown> | null
}

/** Checks a request against its route's schemas; 422 names every field that is wrong. */
export function validate(
  route: Route,
  params: Record<string, string>,
  search: URLSearchParams,
  text: string,
): Input {
  const errors: FieldError[] = []
  const check = (where: string, schema: z.ZodObject, value: unknown) => {
    const parsed = schema.safeParse(value, { reportInput: true })
    if (parsed.success) return parsed.data
    errors.push(...parsed.error.issues.map((issue) => fieldError(where, issue)))
    return {}
  }
  const input = {
    params: check('path', route.params, params),
    query: check('query', route.query, decodeQuery(route.query, search)),
    body: route.body && check('body', route.body, parseBody(text)),
  }
  if (errors.length > 0) throw new Problem(422, 'The request is not valid.', { errors })
  return input
}

/** Levels of nesting a body may have: what recurses over it, SQLite's JSON included, must end. */
const deepestBody = 200

function parseBody(text: string): unknown {
  if (text === '') return undefined
  const body = parseJson(text)
  if (nestsDeeperThan(body, deepestBody)) throw new Problem(400, 'The body is nested too deeply.')
  return body
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem(400, 'The body is not valid JSON.')
  }
}

/** A zod issue as the platform's field error. */
export function fieldError(where: string, issue: z.core.$ZodIssue): FieldError {
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined
  return {
    field: [where, ...issue.path].join('.'),
    message: isMissing ? 'Field required.' : issue.message,
    type: isMissing ? 'missing' : issue.code === 'invalid_type' ? 'type_error' : 'value_error',
  }
}
