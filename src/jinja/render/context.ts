import { MAX_VALUE_DEPTH } from '../limits.ts'
import { hashKey } from '../python/compare.ts'
import { fromEpoch } from '../python/date-time.ts'
import { newContainer, newEntry, type Runtime } from '../python/runtime.ts'
import { Dict, List, type Value } from '../python/values.ts'

/** The caller's data as Python values. */
export function toValues(
  runtime: Runtime,
  context: Readonly<Record<string, unknown>>,
): Map<string, Value> {
  const values = new Map<string, Value>()
  for (const [name, value] of Object.entries(context)) {
    if (value !== undefined) values.set(name, toValue(runtime, value, 0))
  }
  return values
}

function toValue(runtime: Runtime, value: unknown, depth: number): Value {
  if (depth > MAX_VALUE_DEPTH) runtime.fail('the context is nested too deeply')
  runtime.spend()
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
    case 'string':
      return value
    case 'number':
      return Number.isInteger(value) && !Object.is(value, -0) ? BigInt(value) : value
    case 'object':
      return value === null ? null : toContainer(runtime, value, depth + 1)
    default:
      return runtime.fail(`the context holds a ${typeof value}, which is not data`)
  }
}

function toContainer(runtime: Runtime, value: object, depth: number): Value {
  runtime.spend(newContainer)
  if (Array.isArray(value)) {
    return new List(
      value.map((item: unknown) => (item === undefined ? null : toValue(runtime, item, depth))),
    )
  }
  if (value instanceof Date) {
    return fromEpoch(value.getTime()) ?? runtime.fail('the context holds an invalid date')
  }
  const dict = new Dict()
  if (value instanceof Map) {
    for (const [key, item] of value) {
      const name = toValue(runtime, key, depth)
      dict.entries.set(hashKey(runtime, name), [name, toValue(runtime, item, depth)])
    }
    return dict
  }
  for (const [name, item] of Object.entries(value)) {
    runtime.spend(newEntry)
    if (item !== undefined) dict.set(name, toValue(runtime, item, depth))
  }
  return dict
}
