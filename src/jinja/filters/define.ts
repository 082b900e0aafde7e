import { getItem } from '../python/access.ts'
import { type BoundArguments, bind } from '../python/methods.ts'
import type { Callee, ReadCost, Runtime } from '../python/runtime.ts'
import { toText } from '../python/to-text.ts'
import { Markup, textOf, Undefined, type Value } from '../python/values.ts'

export type FilterEntry = readonly [name: string, filter: Callee]

export type FilterBody = (runtime: Runtime, value: Value, args: BoundArguments) => Value

/**
 * Defines a filter by its parameters after the value, written as for `bind`, and its function.
 * `cost`: how the filter reads the texts among its value and arguments, which it pays for before it
 * runs.
 */
export function filter(
  name: string,
  parameters: string,
  run: FilterBody,
  cost: ReadCost = 'walk',
): FilterEntry {
  const names = parameters === '' ? [] : parameters.split(' ')
  return [
    name,
    (runtime, value, args) => {
      const given = bind(runtime, name, names, args)
      runtime.readAll([value, ...given], cost)
      return run(runtime, value, given)
    },
  ]
}

/** `soft_str`: anything but a string becomes one. */
export function softText(runtime: Runtime, value: Value): string | Markup {
  return value instanceof Markup ? value : toText(runtime, value)
}

type Getter = (runtime: Runtime, item: Value) => Value

/**
 * Returns a function that reads `attribute` of an item: `'address.city'`, `'names.0'`, or an index.
 * Without `attribute`, it returns the item itself. Undefined values on the way are replaced by
 * `fallback`, unless that is null.
 */
export function attributeGetter(attribute: Value, fallback: Value = null): Getter {
  const parts = attributeParts(attribute)
  return (runtime, item) => {
    let value = item
    for (const part of parts) {
      value = getItem(runtime, value, part)
      if (fallback !== null && value instanceof Undefined) value = fallback
    }
    return value
  }
}

function attributeParts(attribute: Value): readonly Value[] {
  if (attribute === null) return []
  const text = textOf(attribute)
  if (text === null) return [attribute]
  return text.split('.').map((part) => (/^\d+$/.test(part) ? BigInt(part) : part))
}

/** For keys that ignore case: strings in lower case, anything else as it is. */
export function ignoreCase(value: Value): Value {
  return textOf(value)?.toLowerCase() ?? value
}
