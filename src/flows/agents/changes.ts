import { isDeepStrictEqual } from 'node:util'

export type Fields = Readonly<Record<string, unknown>>

/** One field that differs, by its dotted path; `undefined` where there is no value, not even null. */
export interface Change {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/**
 * What is stored with a change laid over it: objects are merged all the way down, so that nothing
 * that was left out is lost; everything else is replaced. `null` is a value like any other.
 */
export function overlay(stored: unknown, change: unknown): unknown {
  if (!isObject(stored) || !isObject(change)) return change
  const merged: Record<string, unknown> = { ...stored }
  for (const [name, field] of Object.entries(change)) merged[name] = overlay(stored[name], field)
  return merged
}

/** The fields in which two values differ. */
export function changesBetween(before: unknown, after: unknown, path = ''): Change[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isObject(before) || !isObject(after)) {
    return [{ field: path, before, after }]
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    changesBetween(before[name], after[name], path ? `${path}.${name}` : name),
  )
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
