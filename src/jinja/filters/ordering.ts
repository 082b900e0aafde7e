import { compare, equals, hashKey } from '../python/compare.ts'
import { itemsOf } from '../python/container-methods.ts'
import { iterate, toArray } from '../python/iterate.ts'
import type { BoundArguments } from '../python/methods.ts'
import { binary } from '../python/operators.ts'
import { newContainer, newEntry, type Runtime } from '../python/runtime.ts'
import {
  Dict,
  isTrue,
  Generator as Lazy,
  List,
  NamedTuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from '../python/values.ts'
import { attributeGetter, type FilterEntry, filter, ignoreCase } from './define.ts'

type KeyOf = (runtime: Runtime, item: Value) => Value

/** `sorted(items, key=…)`: stable, also in reverse. */
function sortBy(
  runtime: Runtime,
  items: readonly Value[],
  keyOf: KeyOf,
  reverse: boolean,
): Value[] {
  runtime.spend(newContainer * items.length)
  const keyed = items.map((item) => ({ item, key: keyOf(runtime, item) }))
  keyed.sort((a, b) => {
    if (compare(runtime, a.key, b.key) < 0) return reverse ? 1 : -1
    return compare(runtime, b.key, a.key) < 0 ? (reverse ? -1 : 1) : 0
  })
  return keyed.map(({ item }) => item)
}

/** The key to order by: an attribute, without regard to case unless asked. */
function orderKey(attribute: Value, caseSensitive: Value, fallback: Value = null): KeyOf {
  const get = attributeGetter(attribute, fallback)
  if (isTrue(caseSensitive)) return get
  return (runtime, item) => {
    const key = get(runtime, item)
    runtime.readAll([key], 'scan')
    return ignoreCase(key)
  }
}

function sort(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [reverse = false, caseSensitive = false, attribute = null] = args
  const attributes = textOf(attribute)?.split(',') ?? [attribute]
  const keys = attributes.map((name) => orderKey(name, caseSensitive))
  const keyOf: KeyOf = (runtime, item) => new List(keys.map((key) => key(runtime, item)))
  return new List(sortBy(runtime, toArray(runtime, value), keyOf, isTrue(reverse)))
}

function dictSort(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [caseSensitive = false, by = 'key', reverse = false] = args
  const position = ['key', 'value'].indexOf(textOf(by) ?? '')
  if (position < 0) runtime.fail('You can only sort by either "key" or "value"')
  if (value instanceof Undefined) return value.fail(runtime)
  if (!(value instanceof Dict)) {
    return runtime.fail(`'${typeName(value)} object' has no attribute 'items'`, 'undefined_error')
  }
  const keyOf = orderKey(BigInt(position), caseSensitive)
  return new List(sortBy(runtime, toArray(runtime, itemsOf(value)), keyOf, isTrue(reverse)))
}

function extreme(sign: 1 | -1) {
  return (runtime: Runtime, value: Value, args: BoundArguments): Value => {
    const [caseSensitive = false, attribute = null] = args
    const keyOf = orderKey(attribute, caseSensitive)
    let best: { readonly item: Value; readonly key: Value } | null = null
    for (const item of toArray(runtime, value)) {
      const key = keyOf(runtime, item)
      const better =
        best === null || compare(runtime, key, best.key, sign < 0 ? '<' : '>') * sign > 0
      if (better) best = { item, key }
    }
    return best === null ? new Undefined('No aggregated item, sequence was empty.') : best.item
  }
}

function unique(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [caseSensitive = false, attribute = null] = args
  return new Lazy(uniqueItems(runtime, value, orderKey(attribute, caseSensitive)))
}

function* uniqueItems(runtime: Runtime, value: Value, keyOf: KeyOf): Generator<Value> {
  const seen = new Set<string>()
  const items = iterate(runtime, value)
  for (let next = items.next(); !next.done; next = items.next()) {
    const key = hashKey(runtime, keyOf(runtime, next.value))
    runtime.spend(newEntry)
    if (seen.has(key)) continue
    seen.add(key)
    yield next.value
  }
}

/** Groups as pairs of the attribute, as the first item spells it, and the items that have it. */
function groupBy(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [attribute = null, fallback = null, caseSensitive = false] = args
  const keyOf = orderKey(attribute, caseSensitive, fallback)
  const spelledOut = attributeGetter(attribute, fallback)
  const groups: { readonly key: Value; readonly items: Value[] }[] = []
  for (const item of sortBy(runtime, toArray(runtime, value), keyOf, false)) {
    const key = keyOf(runtime, item)
    const last = groups.at(-1)
    if (last !== undefined && equals(runtime, last.key, key)) last.items.push(item)
    else groups.push({ key, items: [item] })
    runtime.spend(last === groups.at(-1) ? 1 : newEntry)
  }
  const tuples = groups.map(({ items }) => {
    const [first = null] = items
    return new NamedTuple(['grouper', 'list'], [spelledOut(runtime, first), new List(items)])
  })
  return new List(tuples)
}

function sum(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [attribute = null, start = 0n] = args
  if (textOf(start) !== null) runtime.fail("TypeError: sum() can't sum strings")
  const get = attributeGetter(attribute)
  return toArray(runtime, value).reduce(
    (total, item) => binary(runtime, 'add', total, get(runtime, item)),
    start,
  )
}

export const orderingFilters: readonly FilterEntry[] = [
  filter('sort', 'reverse? case_sensitive? attribute?', sort),
  filter('dictsort', 'case_sensitive? by? reverse?', dictSort),
  filter('min', 'case_sensitive? attribute?', extreme(-1)),
  filter('max', 'case_sensitive? attribute?', extreme(1)),
  filter('unique', 'case_sensitive? attribute?', unique),
  filter('groupby', 'attribute default? case_sensitive?', groupBy),
  filter('sum', 'attribute? start?', sum),
]
