import type * as z from 'zod'
import type { FieldError } from '../contract/error.ts'
import type { Route } from '../contract/route.ts'
import { decodeQuery } from '../contract/route.ts'
import { allRoutes } from '../contract/routes.ts'
import { boundExceededByText, type JsonBounds, jsonIn } from '../text/json.ts'
import { Problem } from './problem.ts'

/** Literal segments win over parameters: in `accounts/current`, `current` is not an id. */
const patterns = allRoutes
  .map((route) => ({
    route,
    expression: new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`),
  }))
  .sort((a, b) => parameterCount(a.route) - parameterCount(b.route))

function parameterCount(route: Route): number {
  return route.path.split('{').length
}

/** Route and path parameters of a request; throws 404 or 405 if none matches. */
export function matchRoute(
  method: string,
  path: string,
): { route: Route; params: Record<string, string> } {
  for (const { route, expression } of patterns) {
    if (route.method !== method) continue
    const match = expression.exec(path)
    if (!match) continue
    const params = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decode(text)])
    return { route, params: Object.fromEntries(params) }
  }
  const others = patterns.filter(({ expression }) => expression.test(path))
  if (others.length > 0) {
    const allow = new Set(others.map(({ route }) => route.method))
    throw new Problem(405, `There is no ${method} of ${path}.`, { allow })
  }
  throw new Problem(404, `There is no ${method} ${path}.`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Problem(400, 'The path is not properly encoded.')
  }
}

/** Maximum errors reported for one part of a request; a list may have one for each item. */
const maxErrors = 100

/** Validates a request by its route's schemas; 422 names every invalid field. */
export function validate(
  route: Route,
  params: Record<string, string>,
  search: URLSearchParams,
  text: string,
) {
  const errors: FieldError[] = []
  const check = (where: string, schema: z.ZodObject, value: unknown): Record<string, unknown> => {
    const parsed = schema.safeParse(value, { reportInput: true })
    if (parsed.success) return parsed.data
    const { issues } = parsed.error
    errors.push(...issues.slice(0, maxErrors).map((issue) => fieldError(where, issue)))
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

/** Maximum length of a body, bytes. The longest valid template fits. */
const longestBody = 1024 * 1024

/** Reads the body as text; throws 413 at the limit, without reading the rest. */
export async function readBody(request: Request): Promise<string> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > longestBody) throw tooLong()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > longestBody) throw tooLong()
    chunks.push(chunk)
  }
  // Strips a byte order mark, like Request.text().
  return new TextDecoder().decode(Buffer.concat(chunks))
}

const tooLong = () => new Problem(413, `The body is longer than ${longestBody} bytes.`)

/**
 * Limits of a body. They bound recursion over the body, including that of SQLite's JSON functions.
 */
const bodyBounds: JsonBounds = { depth: 200, values: 100_000 }

function parseBody(text: string): unknown {
  if (text === '') return undefined
  const excess = boundExceededByText(text, bodyBounds)
  if (excess === 'depth') throw new Problem(400, 'The body is nested too deeply.')
  if (excess) throw new Problem(400, `The body holds more than ${bodyBounds.values} values.`)
  const value = jsonIn(text)
  if (value === undefined) throw new Problem(400, 'The body is not valid JSON.')
  return value
}

export function fieldError(where: string, issue: z.core.$ZodIssue): FieldError {
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined
  return {
    field: [where, ...issue.path].join('.'),
    message: isMissing ? 'Field required.' : issue.message,
    type: isMissing ? 'missing' : issue.code === 'invalid_type' ? 'type_error' : 'value_error',
  }
}
