import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { ChangedPath } from '../state/undo-log.ts'
import { isObject } from '../text/json.ts'
import { firstCharacters } from '../text/safe-text.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A changed field, by dotted path. `undefined` means absent, which is not null. */
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
 * Merges a change into a stored value. Merges objects at every depth; replaces any other value,
 * even by `null`.
 */
export function overlay(stored: unknown, change: unknown): unknown {
  if (!isObject(stored) || !isObject(change)) return change
  const changed = Object.entries(change).map(
    ([name, field]) => [name, overlay(ownField(stored, name), field)] as const,
  )
  return Object.fromEntries([...Object.entries(stored), ...changed])
}

/** An own field of free-form data. Its name may also be a name of Object.prototype. */
const ownField = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** The differences, each with the list of keys that leads to it: a key may contain dots. */
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

/**
 * A value as JSON, at most `max` characters. A shortened text shows its length; any other shortened
 * value shows the length of its JSON.
 */
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

/** Dotted paths of all values. Free-form data counts as one value. */
export const leavesOf = (fields: Fields, above = ''): string[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    const path = `${above}${name}`
    const isOpen = isObject(value) && Object.keys(value).length > 0 && path !== 'metadata'
    if (isOpen) return leavesOf(value, `${path}.`)
    return value === undefined ? [] : [path]
  })

/** The value at a path: dotted, or as a list of keys, because a key may contain dots. */
export const valueAt = (fields: Fields, path: string | readonly string[]): unknown =>
  (typeof path === 'string' ? path.split('.') : path).reduce<unknown>(
    (value, name) => (isObject(value) ? ownField(value, name) : undefined),
    fields,
  )
