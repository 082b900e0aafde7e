import { compare, equals, hashKey, isIdentical } from './compare.ts'
import { iterate, toArray } from './iterate.ts'
import { asInteger, type Method, type Methods, method } from './methods.ts'
import { newContainer, newEntry, type Runtime } from './runtime.ts'
import { repr } from './to-text.ts'
import { Dict, List, PyObject, Tuple, Undefined, type Value } from './values.ts'

/** The result of `dict.keys()`, `.values()` and `.items()`: a live view of the dict. */
export class DictView extends PyObject {
  readonly typeName: string
  private readonly dict: Dict
  private readonly pick: (entry: readonly [Value, Value]) => Value

  constructor(typeName: string, dict: Dict, pick: (entry: readonly [Value, Value]) => Value) {
    super()
    this.typeName = typeName
    this.dict = dict
    this.pick = pick
  }

  override iterate(): Iterator<Value> {
    return this.dict.entries.values().map(this.pick)
  }

  override length(): number {
    return this.dict.entries.size
  }

  override repr(runtime: Runtime): string {
    return `${this.typeName}(${repr(runtime, new List(toArray(runtime, this)))})`
  }
}

/** The items of a mapping as pairs. */
export function itemsOf(dict: Dict): PyObject {
  return new DictView('dict_items', dict, (entry) => new Tuple(entry))
}

const none = null

/**
 * The methods of `dict`. They may change it, as in `SandboxedEnvironment`: the context is a copy.
 */
export const dictMethods: Methods<Dict> = new Map<string, Method<Dict>>([
  ['items', method('', (_, self) => itemsOf(self), 'free')],
  ['keys', method('', (_, self) => new DictView('dict_keys', self, ([key]) => key), 'free')],
  [
    'values',
    method('', (_, self) => new DictView('dict_values', self, ([, item]) => item), 'free'),
  ],
  [
    'copy',
    method('', (runtime, self) => {
      runtime.spend(newContainer + newEntry * self.entries.size)
      return new Dict(new Map(self.entries))
    }),
  ],
  [
    'get',
    method(
      'key default?',
      (runtime, self, [key = none, fallback = none]) => {
        const entry = self.entries.get(hashKey(runtime, key))
        return entry === undefined ? fallback : entry[1]
      },
      'free',
    ),
  ],
  [
    'clear',
    method('', (_, self) => {
      self.entries.clear()
      return none
    }),
  ],
  [
    'setdefault',
    method(
      'key default?',
      (runtime, self, [key = none, fallback = none]) => {
        const hash = hashKey(runtime, key)
        const entry = self.entries.get(hash)
        if (entry !== undefined) return entry[1]
        runtime.spend(newEntry)
        self.entries.set(hash, [key, fallback])
        return fallback
      },
      'free',
    ),
  ],
  ['pop', method('key default?', (...all) => popKey(...all), 'free')],
  [
    'update',
    method('other?', (runtime, self, [other = none]) => {
      for (const [hash, entry] of dictEntries(runtime, other)) self.entries.set(hash, entry)
      return none
    }),
  ],
])

function popKey(
  runtime: Runtime,
  self: Dict,
  [key = none, fallback]: readonly (Value | undefined)[],
): Value {
  const hash = hashKey(runtime, key)
  const entry = self.entries.get(hash)
  if (entry === undefined && fallback === undefined) {
    return runtime.fail(`KeyError: ${repr(runtime, key)}`)
  }
  self.entries.delete(hash)
  return entry === undefined ? (fallback ?? none) : entry[1]
}

/** Entries of `dict(value)`: those of a dict, or the pairs of an iterable. */
export function* dictEntries(
  runtime: Runtime,
  value: Value,
): Generator<[string, readonly [Value, Value]]> {
  if (value instanceof Undefined) value.fail(runtime)
  if (value instanceof Dict) {
    runtime.spend(newEntry * value.entries.size)
    return yield* value.entries
  }
  for (const pair of toArray(runtime, value)) {
    const [key, item, ...more] = toArray(runtime, pair)
    if (key === undefined || item === undefined || more.length > 0) {
      runtime.fail('ValueError: dictionary update sequence element has the wrong length')
    }
    runtime.spend(newEntry)
    yield [hashKey(runtime, key), [key, item]]
  }
}

function positionOf(runtime: Runtime, items: readonly Value[], wanted: Value): number {
  return items.findIndex((item) => isIdentical(item, wanted) || equals(runtime, item, wanted))
}

const search: readonly (readonly [string, Method<List | Tuple>])[] = [
  [
    'count',
    method('value', (runtime, { items }, [value = none]) =>
      BigInt(
        items.filter((item) => isIdentical(item, value) || equals(runtime, item, value)).length,
      ),
    ),
  ],
  [
    'index',
    method('value', (runtime, { items }, [value = none]) => {
      const at = positionOf(runtime, items, value)
      if (at < 0) runtime.fail(`ValueError: ${repr(runtime, value)} is not in list`)
      return BigInt(at)
    }),
  ],
]

export const tupleMethods: Methods<Tuple> = new Map<string, Method<Tuple>>(search)

/** The methods of `list`. */
export const listMethods: Methods<List> = new Map<string, Method<List>>([
  ...search,
  [
    'append',
    method(
      'value',
      (_, { items }, [value = none]) => {
        items.push(value)
        return none
      },
      'free',
    ),
  ],
  [
    'extend',
    method('iterable', (runtime, { items }, [iterable = none]) => {
      const more =
        iterable instanceof List ? toArray(runtime, iterable) : [...drain(runtime, iterable)]
      for (const item of more) items.push(item)
      return none
    }),
  ],
  [
    'insert',
    method('index value', (runtime, { items }, [index, value = none]) => {
      items.splice(asInteger(runtime, index, 0), 0, value)
      return none
    }),
  ],
  [
    'pop',
    method(
      'index?',
      (runtime, { items }, [index]) => popItem(runtime, items, asInteger(runtime, index, -1)),
      'free',
    ),
  ],
  [
    'remove',
    method('value', (runtime, { items }, [value = none]) => {
      const at = positionOf(runtime, items, value)
      if (at < 0) runtime.fail('ValueError: list.remove(x): x not in list')
      items.splice(at, 1)
      return none
    }),
  ],
  [
    'clear',
    method('', (_, { items }) => {
      items.splice(0)
      return none
    }),
  ],
  ['copy', method('', (runtime, self) => new List(toArray(runtime, self)))],
  [
    'reverse',
    method('', (_, { items }) => {
      items.reverse()
      return none
    }),
  ],
  [
    'sort',
    method('', (runtime, { items }) => {
      items.sort((a, b) => compare(runtime, a, b))
      return none
    }),
  ],
])

function* drain(runtime: Runtime, value: Value): Generator<Value> {
  const items = iterate(runtime, value)
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend()
    yield next.value
  }
}

function popItem(runtime: Runtime, items: Value[], index: number): Value {
  const at = index < 0 ? index + items.length : index
  // The items after it move.
  runtime.spend(Math.max(0, items.length - at) >> 4)
  const [removed] = at < 0 ? [] : items.splice(at, 1)
  return removed === undefined ? runtime.fail('IndexError: pop index out of range') : removed
}
