import { type Fields, isObject } from './changes.ts'

/**
 * Where a dotted path leads in free data, as the keys on the way. A key may hold dots itself, so
 * there can be several such ways.
 */
export function keysAt(data: unknown, path: string): string[][] {
  if (!isObject(data)) return []
  return Object.entries(data).flatMap(([key, value]) => {
    if (key === path) return [[key]]
    if (!path.startsWith(`${key}.`)) return []
    return keysAt(value, path.slice(key.length + 1)).map((rest) => [key, ...rest])
  })
}

/** The same data without what is at the end of these keys. */
export function withoutKeys(data: unknown, [key = '', ...rest]: readonly string[]): unknown {
  if (!isObject(data)) return data
  const { [key]: taken, ...others } = data
  return rest.length === 0 ? others : { ...data, [key]: withoutKeys(taken, rest) }
}

/** Longer paths are not compared with others. */
const longestPath = 200

/** Keys as dotted paths, those within others too; bounded because data may be anything. */
export function pathsIn(data: Fields, prefix = '', levels = 3): string[] {
  return Object.entries(data).flatMap(([key, value]) => {
    const path = `${prefix}${key}`
    if (path.length > longestPath) return []
    const inner = isObject(value) && levels > 1 ? pathsIn(value, `${path}.`, levels - 1) : []
    return [path, ...inner]
  })
}
