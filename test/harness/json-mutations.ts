import fc from 'fast-check'
import { isObject } from './openapi.ts'
import { anyJson, anyKey } from './schema-values.ts'

/** Arbitrary edit of a JSON value. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('replace' as const), value: anyJson }),
  fc.record({ kind: fc.constant('remove' as const) }),
  fc.record({ kind: fc.constant('add' as const), key: anyKey, value: anyJson }),
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** Arbitrary values with one random edit, which may make them invalid. */
export const almost = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(values, fc.nat(), change).map(([value, at, how]) => {
    const places = placesIn(value)
    return changed(value, places[at % places.length] ?? [], how)
  })

type Place = readonly string[]

/** Paths of all nested values, including the value itself, up to depth 5. */
function placesIn(value: unknown, here: Place = []): Place[] {
  if (here.length > 4 || !isObject(value)) return [here]
  return [
    here,
    ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...here, name])),
  ]
}

function changed(value: unknown, [name, ...rest]: Place, how: Change): unknown {
  if (name === undefined) {
    if (how.kind === 'replace') return how.value
    return how.kind === 'add' && isObject(value)
      ? Object.fromEntries([...Object.entries(value), [how.key, how.value]])
      : undefined
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
      const after = key === name ? changed(inner, rest, how) : inner
      return after === undefined ? [] : [[key, after]]
    }),
  )
}
