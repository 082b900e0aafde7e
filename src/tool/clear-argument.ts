import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import { closestWord } from '../text/closest-match.ts'
import { isObject } from '../text/json.ts'
import type { ArgumentProblem } from './refused.ts'

/*
 * The argument `clear` names the fields to clear. The platform's PATCH clears fields by null. The
 * tools cannot, because strict function calling sends null for every omitted argument.
 */

export const clearName = 'clear'

/** Dotted paths of the fields to clear. */
export const clearArgument = z
  .array(z.string().max(500))
  .refine(({ length }) => length <= 50, { error: 'Too many: 50 paths at most', abort: true })
  .optional()

interface ClearingTool {
  readonly route: Route
  readonly clearable: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

/**
 * The paths that a tool can clear: the ones it lists; for an update without a list, all nullable
 * fields.
 */
export const clearablePaths = (
  { method, body }: Route,
  named: readonly string[] | undefined,
): readonly string[] => named ?? (method === 'PATCH' && body ? nullablePaths(body) : [])

function nullablePaths(body: z.ZodObject, prefix = ''): string[] {
  return Object.entries(body.shape).flatMap(([name, field]) => {
    const type = unwrapped(field)
    const path = `${prefix}${name}`
    return [
      ...(allowsNull(field) ? [path] : []),
      ...(type instanceof z.ZodObject ? nullablePaths(type, `${path}.`) : []),
    ]
  })
}

/** Reports paths that cannot be cleared, and paths that are also given a value. */
export function clearProblems(
  tool: ClearingTool,
  given: Fields,
  paths: readonly string[],
): ArgumentProblem[] {
  return paths.flatMap((path, at) => {
    const message = isClearable(tool, path)
      ? isSet(given, path) && `${path} is given too; either give it a value or clear it`
      : whyNotClearable(tool, path)
    return message ? [{ argument: `${clearName}.${at}`, message }] : []
  })
}

/**
 * Sets null in the body at each path to clear. Keys of free-form data stay, because null is an
 * ordinary value there. Removing such a key needs the stored data: see `wantedFields` in
 * tools/agents/agent-update-plan.ts.
 */
export function withNulls(tool: ClearingTool, given: Fields, paths: readonly string[]): Fields {
  const shortestFirst = [...paths].sort((one, other) => one.length - other.length)
  return shortestFirst
    .filter((path) => pathTarget(tool.route.body, path) !== 'free data')
    .reduce((body, path) => withNullAt(body, path.split('.')), given)
}

function withNullAt(object: Fields, [name = '', ...rest]: readonly string[]): Fields {
  const inner = Object.hasOwn(object, name) ? object[name] : undefined
  // The object around the field is already cleared.
  if (inner === null) return object
  return {
    ...object,
    [name]: rest.length === 0 ? null : withNullAt(isObject(inner) ? inner : {}, rest),
  }
}

/** What a path leads to: a declared field, a field of an open object, or free-form data. */
type PathTarget = 'declared' | 'open object' | 'free data'

function pathTarget(object: z.ZodObject | null, path: string): PathTarget | undefined {
  if (!object) return undefined
  const [name = '', ...rest] = path.split('.')
  const innerPath = rest.join('.')
  const field = Object.hasOwn(object.shape, name) ? object.shape[name] : undefined
  if (!field) {
    const isTypo = closestWord(name, Object.keys(object.shape)) !== undefined
    const isName = [name, ...rest].every((part) => part !== '' && part !== '__proto__')
    return isOpen(object) && !isTypo && isName ? 'open object' : undefined
  }
  if (rest.length === 0) return 'declared'
  const type = unwrapped(field)
  if (type instanceof z.ZodObject) return pathTarget(type, innerPath)
  return type instanceof z.ZodRecord && innerPath !== '' ? 'free data' : undefined
}

/** Open objects keep undeclared fields, such as the settings of an unknown provider. */
const isOpen = (object: z.ZodObject) => object.def.catchall !== undefined

/** True if a tool can clear the field at this path. */
export function isClearable({ clearable, route }: ClearingTool, path: string): boolean {
  if (clearable.includes(path)) return true
  const target = route.method === 'PATCH' ? pathTarget(route.body, path) : undefined
  return target !== undefined && target !== 'declared'
}

/** True if the arguments give a value at this path. Keys of free-form data may contain dots. */
function isSet(value: unknown, path: string): boolean {
  if (!isObject(value)) return true
  return Object.entries(value).some(
    ([name, field]) =>
      name === path || (path.startsWith(`${name}.`) && isSet(field, path.slice(name.length + 1))),
  )
}

/** Longest path that is compared with known ones, characters. */
const longestPath = 200

function whyNotClearable({ clearable, route }: ClearingTool, path: string): string {
  const shown = path.slice(0, longestPath)
  if (pathTarget(route.body, shown) === 'declared')
    return `${shown} cannot be cleared; ${alternative(clearable, shown)}`
  const meant = nearestPath(shown, clearable)
  const hint = meant ? `did you mean ${meant}?` : `these can be cleared: ${clearable.join(', ')}`
  return `there is no field ${shown}; ${hint}`
}

/** Advice for a declared field that does not allow null. */
function alternative(clearable: readonly string[], path: string): string {
  const inner = clearable.filter((one) => one.startsWith(`${path}.`))
  return inner.length > 0
    ? `clear fields of it: ${inner.join(', ')}`
    : `send another value; these can be cleared: ${clearable.join(', ')}`
}

/** The closest known path: by the whole path, or by its last name. */
function nearestPath(path: string, known: readonly string[]): string | undefined {
  const last = closestWord(lastName(path), known.map(lastName))
  return closestWord(path, known) ?? known.find((one) => lastName(one) === last)
}

const lastName = (path: string) => path.slice(path.lastIndexOf('.') + 1)

const unwrapped = (field: z.core.$ZodType): z.core.$ZodType =>
  field instanceof z.ZodOptional || field instanceof z.ZodNullable
    ? unwrapped(field.unwrap())
    : field

const allowsNull = (field: z.core.$ZodType): boolean =>
  field instanceof z.ZodNullable || (field instanceof z.ZodOptional && allowsNull(field.unwrap()))
