import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { isObject } from '../text/json.ts'

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

/** The fields of `value` that are also in `selected`. */
export const sameFieldsOf = (value: Fields, selected: Fields): Fields =>
  Object.fromEntries(Object.keys(selected).map((name) => [name, ownField(value, name)]))
