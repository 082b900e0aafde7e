import * as z from 'zod'
import type { Route } from '../../contract/route.ts'
import { closestWord } from '../../text/closest-match.ts'
import type { ArgumentProblem } from './advice.ts'

/*
 * Strict function calling sends null for every argument that is not given, so null cannot mean
 * "clear this" as it does on the wire. What is to be cleared is named in an argument of its own.
 */

/** The argument that names what is to be cleared. */
export const clearName = 'clear'

/** Dotted paths of what is to be cleared. */
export const clearOption = z
  .array(z.string().max(500))
  .refine(({ length }) => length <= 50, { error: 'Too many: 50 paths at most', abort: true })
  .optional()

/** What says which fields a tool can clear. */
interface ClearingTool {
  readonly route: Route
  readonly clearable: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

/** The fields of a body that take null, which clears them, as dotted paths. */
export function nullablePaths(body: z.ZodObject, prefix = ''): string[] {
  return Object.entries(body.shape).flatMap(([name, field]) => {
    const type = unwrapped(field)
    const path = `${prefix}${name}`
    return [
      ...(takesNull(field) ? [path] : []),
      ...(type instanceof z.ZodObject ? nullablePaths(type, `${path}.`) : []),
    ]
  })
}

/** Why some paths cannot be cleared beside what is given. */
export function clearProblems(
  tool: ClearingTool,
  given: Fields,
  paths: readonly string[],
): ArgumentProblem[] {
  return paths.flatMap((path, at) => {
    const message = isClearable(tool, path)
      ? isSet(given, path) && `${path} is given too; either give it a value or clear it`
      : whyNot(tool, path)
    return message ? [{ argument: `${clearName}.${at}`, message }] : []
  })
}

/**
 * A body with null for each path that the platform clears so. A key of free data is not among them:
 * null is a value there, and taking out a key needs the whole of it (see safe-update.ts).
 */
export function withNulls(tool: ClearingTool, given: Fields, paths: readonly string[]): Fields {
  const shortestFirst = [...paths].sort((one, other) => one.length - other.length)
  return shortestFirst
    .filter((path) => placeOf(tool.route.body, path)?.in !== 'free data')
    .reduce((body, path) => withNullAt(body, path.split('.')), given)
}

function withNullAt(object: Fields, [name = '', ...rest]: readonly string[]): Fields {
  const inner = object[name]
  // What holds it is cleared as a whole.
  if (inner === null) return object
  return {
    ...object,
    [name]: rest.length === 0 ? null : withNullAt(isObject(inner) ? inner : {}, rest),
  }
}

/** Where a path leads: to a declared field, or into what is not declared. */
type Place =
  | { readonly in: 'declared'; readonly field: z.core.$ZodType }
  | { readonly in: 'open object' }
  | { readonly in: 'free data' }

function placeOf(object: z.ZodObject | null, path: string): Place | undefined {
  if (!object) return undefined
  const [name = '', ...rest] = path.split('.')
  const within = rest.join('.')
  const field = Object.hasOwn(object.shape, name) ? object.shape[name] : undefined
  if (!field) {
    const isTypo = closestWord(name, Object.keys(object.shape)) !== undefined
    const isName = [name, ...rest].every((part) => part !== '' && part !== '__proto__')
    return isOpen(object) && !isTypo && isName ? { in: 'open object' } : undefined
  }
  if (rest.length === 0) return { in: 'declared', field }
  const type = unwrapped(field)
  if (type instanceof z.ZodObject) return placeOf(type, within)
  return type instanceof z.ZodRecord && within !== '' ? { in: 'free data' } : undefined
}

/** It keeps fields that are not declared: the settings of a provider that is not known. */
const isOpen = (object: z.ZodObject) => object.def.catchall !== undefined

function isClearable({ clearable, route }: ClearingTool, path: string): boolean {
  if (clearable.includes(path)) return true
  const place = route.method === 'PATCH' ? placeOf(route.body, path) : undefined
  return place !== undefined && place.in !== 'declared'
}

/** Whether a value is given at a path; a key of free data may hold dots itself. */
function isSet(value: unknown, path: string): boolean {
  if (!isObject(value)) return true
  return Object.entries(value).some(
    ([name, field]) =>
      name === path || (path.startsWith(`${name}.`) && isSet(field, path.slice(name.length + 1))),
  )
}

/** Names that are compared at most; longer ones are no names. */
const longestPath = 200

function whyNot({ clearable, route }: ClearingTool, path: string): string {
  const shown = path.slice(0, longestPath)
  const place = placeOf(route.body, shown)
  if (place?.in === 'declared')
    return `${shown} cannot be cleared; ${instead(clearable, shown, place.field)}`
  const meant = nearestPath(shown, clearable)
  const hint = meant ? `did you mean ${meant}?` : `these can be cleared: ${clearable.join(', ')}`
  return `there is no field ${shown}; ${hint}`
}

function instead(clearable: readonly string[], path: string, field: z.core.$ZodType): string {
  const within = clearable.filter((one) => one.startsWith(`${path}.`))
  if (within.length > 0) return `clear fields of it: ${within.join(', ')}`
  const usual = z.globalRegistry.get(field)?.default
  const holder = clearable.find((one) => path.startsWith(`${one}.`))
  const advice = [
    usual !== undefined && `send ${JSON.stringify(usual)} for the default`,
    holder && `clear ${holder} to reset all of it`,
  ].filter(Boolean)
  if (advice.length > 0) return advice.join(', or ')
  return `send another value; these can be cleared: ${clearable.join(', ')}`
}

/** The path most likely meant, by all of it or by its last name alone. */
function nearestPath(path: string, known: readonly string[]): string | undefined {
  const last = closestWord(lastName(path), known.map(lastName))
  return closestWord(path, known) ?? known.find((one) => lastName(one) === last)
}

const lastName = (path: string) => path.slice(path.lastIndexOf('.') + 1)

const unwrapped = (field: z.core.$ZodType): z.core.$ZodType =>
  field instanceof z.ZodOptional || field instanceof z.ZodNullable
    ? unwrapped(field.unwrap())
    : field

const takesNull = (field: z.core.$ZodType): boolean =>
  field instanceof z.ZodNullable || (field instanceof z.ZodOptional && takesNull(field.unwrap()))

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
