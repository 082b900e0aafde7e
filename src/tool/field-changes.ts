import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { isObject } from '../text/json.ts'

export type Fields = Readonly<Record<string, unknown>>

/** One field that differs, by its dotted path. `undefined`: the field is absent, which is not null. */
export interface FieldChange {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** The fields that differ, in results. */
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
 * Merges a change into what is stored. Objects are merged at every depth, so that no field is lost;
 * any other value is replaced. `null` is a value like any other.
 */
export function overlay(stored: unknown, change: unknown): unknown {
  if (!isObject(stored) || !isObject(change)) return change
  const changed = Object.entries(change).map(
    ([name, field]) => [name, overlay(ownField(stored, name), field)] as const,
  )
  return Object.fromEntries([...Object.entries(stored), ...changed])
}

/** A field of free data, which may have any name, also one that every object of JavaScript has. */
const ownField = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** The fields in which two values differ. */
export function changesBetween(before: unknown, after: unknown, path = ''): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isObject(before) || !isObject(after)) {
    return [{ field: path, before, after }]
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    changesBetween(ownField(before, name), ownField(after, name), path ? `${path}.${name}` : name),
  )
}

/** The fields of `value` that `selected` has too. */
export const sameFieldsOf = (value: Fields, selected: Fields): Fields =>
  Object.fromEntries(Object.keys(selected).map((name) => [name, ownField(value, name)]))
