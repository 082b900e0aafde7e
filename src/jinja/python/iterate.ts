import type { Runtime } from './runtime.ts'
import { textLength } from './text.ts'
import { Dict, List, PyObject, Tuple, textOf, typeName, Undefined, type Value } from './values.ts'

/**
 * `iter(value)`; null if it is not iterable. A list that grows meanwhile also yields the new items.
 */
export function tryIterate(runtime: Runtime, value: Value): Iterator<Value> | null {
  const text = textOf(value)
  if (text !== null) return text[Symbol.iterator]()
  if (value instanceof List || value instanceof Tuple) return value.items[Symbol.iterator]()
  if (value instanceof Dict) return keysOf(value)
  if (value instanceof Undefined) return [][Symbol.iterator]()
  return value instanceof PyObject ? value.iterate(runtime) : null
}

function* keysOf(dict: Dict): Generator<Value> {
  for (const [key] of dict.entries.values()) yield key
}

/** `iter(value)`; fails as in Python if it is not iterable. */
export function iterate(runtime: Runtime, value: Value): Iterator<Value> {
  const iterator = tryIterate(runtime, value)
  if (iterator !== null) return iterator
  return runtime.fail(`TypeError: '${typeName(value)}' object is not iterable`)
}

/** `list(value)`. */
export function toArray(runtime: Runtime, value: Value): Value[] {
  return mapItems(runtime, value, (item) => item)
}

/** `[change(item) for item in value]`. */
export function mapItems<T>(runtime: Runtime, value: Value, change: (item: Value) => T): T[] {
  const items = iterate(runtime, value)
  const array: T[] = []
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend()
    array.push(change(next.value))
  }
  return array
}

/** `len(value)`; null if it has no length. */
export function tryLength(value: Value): number | null {
  const text = textOf(value)
  if (text !== null) return textLength(text)
  if (value instanceof List || value instanceof Tuple) return value.items.length
  if (value instanceof Dict) return value.entries.size
  if (value instanceof Undefined) return 0
  return value instanceof PyObject ? value.length() : null
}

/** `len(value)`. */
export function lengthOf(runtime: Runtime, value: Value): number {
  const length = tryLength(value)
  if (length !== null) return length
  return runtime.fail(`TypeError: object of type '${typeName(value)}' has no len()`)
}
