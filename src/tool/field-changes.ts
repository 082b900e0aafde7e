import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { ChangedPath } from '../state/undo-log.ts'
import { isObject } from '../text/json.ts'
import { firstCharacters } from '../text/safe-text.ts'

/* Changes between two versions of an object: compared, shown, and taken back. */

export type { ChangedPath }

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

/** The fields of `value` with the names of `selected`; `undefined` for each that it lacks. */
export const fieldsNamedIn = (selected: Fields, value: Fields): Fields =>
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

/** The changes that an undo makes to an object. */
interface TakenBack {
  /** The changes, from the current value to the earlier one. */
  readonly back: readonly ChangedPath[]
  /** Reasons why other paths stay unchanged. */
  readonly notes: readonly string[]
}

/**
 * Compares an object with the values after a change, to take the change back. If the outcome of the
 * change is unknown, a path may have the earlier value or the intended one.
 */
export function takenBack(current: Fields, paths: readonly ChangedPath[]): TakenBack {
  const found = paths.map(({ path, before, after }) => {
    const now = valueAt(current, path)
    if (isSame(now, before)) return {}
    if (isSame(now, after)) return { back: { path, before: now, after: before } }
    return {
      note: `${path.join('.')}: changed since, and stays ${shortJson(now, longestInNote)}, not ${shortJson(after, longestInNote)} as the change left it`,
    }
  })
  return {
    back: found.flatMap(({ back }) => back ?? []),
    notes: found.flatMap(({ note }) => note ?? []),
  }
}

/** Longest value in a note, characters. */
const longestInNote = 100

/** Compares two values. Replies may omit a field that is null, so absent equals null. */
const isSame = (one: unknown, other: unknown) => isDeepStrictEqual(one ?? null, other ?? null)

const isEmpty = (value: unknown) => value === '' || isDeepStrictEqual(value, [])

/**
 * The body that restores the earlier values of plain fields. `removable`: fields that null removes;
 * no update can remove other fields.
 */
export function earlierBody(
  current: Fields,
  paths: readonly ChangedPath[],
  removable: readonly string[],
): { readonly body: Fields; readonly notes: readonly string[] } {
  const { back, notes } = takenBack(current, paths)
  const isStuck = ({ path: [name = ''], after }: ChangedPath) =>
    (after ?? null) === null && !removable.includes(name)
  const possible = back.filter((change) => !isStuck(change))
  return {
    body: Object.fromEntries(possible.map(({ path: [name = ''], after }) => [name, after ?? null])),
    notes: [...notes, ...back.filter(isStuck).map(cannotBeUnset)],
  }
}

export const cannotBeUnset = ({ path }: ChangedPath): string =>
  `${path.join('.')}: had no value before, and an update cannot remove it`

/**
 * Describes the fields that the platform saved with another value than was sent. An empty list or
 * text counts as equal to a sent null.
 */
export const notTaken = (body: Fields, saved: Fields): string[] =>
  Object.entries(body).flatMap(([name, value]) =>
    isSame(value, saved[name]) || (value === null && isEmpty(saved[name]))
      ? []
      : `${name}: the platform has ${shortJson(saved[name], longestInNote)}, not ${shortJson(value, longestInNote)}`,
  )

/**
 * The changed fields, each with its complete new value. Omits a value that was absent before the
 * change.
 */
export function withPaths(current: Fields, back: readonly ChangedPath[]): Fields {
  const names = new Set(back.flatMap(({ path }) => path.slice(0, 1)))
  const changed = back.reduce<Fields>(
    (all, { path, after }) => withValue(all, path, after),
    current,
  )
  return Object.fromEntries(Object.entries(changed).filter(([name]) => names.has(name)))
}

function withValue(
  fields: Fields,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Fields {
  const { [name]: inner, ...others } = fields
  const changed = rest.length > 0 ? withValue(isObject(inner) ? inner : {}, rest, value) : value
  return changed === undefined ? others : { ...fields, [name]: changed }
}
