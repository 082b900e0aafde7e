import { isObject } from '../../json/is-object.ts'
import type { Fields } from '../field-changes.ts'

/**
 * The keys on the way to a dotted path in free data. A key may contain dots itself, so one path can
 * have several ways.
 */
export function keysAt(data: unknown, path: string): string[][] {
  if (!isObject(data)) return []
  return Object.entries(data).flatMap(([key, value]) => {
    if (key === path) return [[key]]
    if (!path.startsWith(`${key}.`)) return []
    return keysAt(value, path.slice(key.length + 1)).map((rest) => [key, ...rest])
  })
}

/** The same data without the value at the end of these keys. */
export function withoutKeys(data: unknown, [key = '', ...rest]: readonly string[]): unknown {
  if (!isObject(data)) return data
  const { [key]: value, ...others } = data
  return rest.length === 0 ? others : { ...data, [key]: withoutKeys(value, rest) }
}

/** Longer paths are left out: they are compared with what a person typed. */
const longestPath = 200

/** All keys as dotted paths. `levels` bounds the depth, because free data can be of any shape. */
export function pathsIn(data: Fields, prefix = '', levels = 3): string[] {
  return Object.entries(data).flatMap(([key, value]) => {
    const path = `${prefix}${key}`
    if (path.length > longestPath) return []
    const inner = isObject(value) && levels > 1 ? pathsIn(value, `${path}.`, levels - 1) : []
    return [path, ...inner]
  })
}
