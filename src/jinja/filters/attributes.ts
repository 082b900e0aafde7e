import { getItem } from '../python/access.ts'
import type { Runtime } from '../python/runtime.ts'
import { textOf, Undefined, type Value } from '../python/values.ts'

type Getter = (runtime: Runtime, item: Value) => Value

/**
 * Reads `attribute` of an item: `'address.city'`, `'names.0'`, or an index. Without one the item
 * itself. What is undefined on the way is replaced by the fallback, unless that is none.
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
