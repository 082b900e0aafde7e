import { isObject } from '../json/is-object.ts'

type Variables = Readonly<Record<string, unknown>>

/** Most names in a dotted path; further ones are ignored. */
const deepestPath = 20

/**
 * What a template reads in a call with these `test_variables`: they are nested [R], and win over the
 * variables of the platform. A key with dots, such as `order.id`, sets `id` of `order` [S]. An object
 * given for one that exists, such as `contact`, replaces only the fields it has [S].
 */
export function withTestVariables(known: Variables, testVariables: Variables): Variables {
  const variables: Record<string, unknown> = { ...known }
  for (const [path, value] of Object.entries(testVariables)) {
    put(variables, path.split('.', deepestPath), value)
  }
  return variables
}

function put(into: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (name === '__proto__') return
  const before = into[name]
  if (rest.length === 0) {
    into[name] = isObject(value) && isObject(before) ? { ...before, ...value } : value
    return
  }
  const inner = isObject(before) ? { ...before } : {}
  put(inner, rest, value)
  into[name] = inner
}
