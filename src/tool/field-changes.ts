import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { ChangedPath } from '../state/undo-log.ts'
import { isObject } from '../text/json.ts'
import { firstCharacters } from '../text/safe-text.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A changed field, by its dotted path. `undefined`: absent, which is not null. */
export interface FieldChange {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

export const fieldChanges = z
  .array(
    z.object({
      field: z.string().describe('Dotted path.'),
      before: z.unknown().optional().describe('Value before; absent: there was none.'),
      after: z.unknown().optional().describe('Value after; absent: there is none.'),
    }),
  )
  .describe('What differs, field by field.')

/**
 * Merges a change into a stored value. Objects are merged at every depth; any other value is
 * replaced, also by `null`.
 */
export function overlay(stored: unknown, change: unknown): unknown {
  if (!isObject(stored) || !isObject(change)) return change
  const changed = Object.entries(change).map(
    ([name, field]) => [name, overlay(ownField(stored, name), field)] as const,
  )
  return Object.fromEntries([...Object.entries(stored), ...changed])
}

/** A field of free data, whose name may be one of Object.prototype. */
const ownField = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** What differs, with the keys on the way to it: a key may contain dots. */
export function pathsBetween(
  before: unknown,
  after: unknown,
  path: readonly string[] = [],
): ChangedPath[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isObject(before) || !isObject(after)) return [{ path: [...path], before, after }]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    pathsBetween(ownField(before, name), ownField(after, name), [...path, name]),
  )
}

export const changesBetween = (before: unknown, after: unknown, path = ''): FieldChange[] =>
  changesOf(pathsBetween(before, after, path ? [path] : []))

export const changesOf = (paths: readonly ChangedPath[]): FieldChange[] =>
  paths.map(({ path, before, after }) => ({ field: path.join('.'), before, after }))

/** The fields of `value` that are also in `selected`. */
export const sameFieldsOf = (value: Fields, selected: Fields): Fields =>
  Object.fromEntries(Object.keys(selected).map((name) => [name, ownField(value, name)]))

/** Longest value in a text, in characters. */
const longestValue = 500

/** A value as JSON. A text that is longer is cut, with its length; another value with that of its JSON. */
export function shortJson(value: unknown, max = longestValue): string {
  if (typeof value === 'string') {
    const shown = firstCharacters(value, max)
    return `${JSON.stringify(shown)}${shown === value ? '' : `… (${value.length} characters)`}`
  }
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > max
    ? `${firstCharacters(text, max)}… (${text.length} characters of JSON)`
    : text
}

/** Dotted paths of all values; free data is one. */
export const leavesOf = (fields: Fields, above = ''): string[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    const path = `${above}${name}`
    const isOpen = isObject(value) && Object.keys(value).length > 0 && path !== 'metadata'
    if (isOpen) return leavesOf(value, `${path}.`)
    return value === undefined ? [] : [path]
  })

/** The value at a path; dotted, or with the keys on the way: a key may contain dots. */
export const valueAt = (fields: Fields, path: string | readonly string[]): unknown =>
  (typeof path === 'string' ? path.split('.') : path).reduce<unknown>(
    (value, name) => (isObject(value) ? ownField(value, name) : undefined),
    fields,
  )
