import * as z from 'zod'

/** The parts of an input schema that declare fields. */
const Schema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
})

type Path = readonly (string | number)[]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Paths of all declared fields that the arguments leave out, at every depth: in given objects, in
 * items of lists, and in objects that are left out themselves.
 */
export function declaredNotGiven(given: unknown, schema: unknown, path: Path = []): Path[] {
  const { properties = {}, items } = Schema.parse(schema ?? {})
  if (Array.isArray(given)) {
    return given.flatMap((item, at) => declaredNotGiven(item, items, [...path, at]))
  }
  if (given !== undefined && !isObject(given)) return []
  return Object.entries(properties).flatMap(([name, field]) => {
    const here = [...path, name]
    const value = given?.[name]
    return [...(value === undefined ? [here] : []), ...declaredNotGiven(value, field, here)]
  })
}

/** Sets null at a path. Missing parents are created; a parent that is null stays. */
export function withNull(given: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return null
  if (given === null) return null
  if (Array.isArray(given))
    return given.map((item, at) => (at === name ? withNull(item, rest) : item))
  const object = isObject(given) ? given : {}
  return { ...object, [name]: withNull(object[name], rest) }
}
