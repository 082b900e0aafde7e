import { getAttribute, hasAttribute } from '../python/access.ts'
import { asInteger, asText } from '../python/arguments.ts'
import { itemsOf } from '../python/container-methods.ts'
import { iterate, lengthOf, mapItems, toArray, tryIterate } from '../python/iterate.ts'
import { escapeText } from '../python/markup.ts'
import type { BoundArguments } from '../python/method.ts'
import { toText } from '../python/repr.ts'
import { newContainer, type Runtime } from '../python/runtime.ts'
import { joinTexts } from '../python/string-operations.ts'
import {
  Dict,
  isTrue,
  Generator as Lazy,
  List,
  Markup,
  Thing,
  textOf,
  typeName,
  Undefined,
  type Value,
} from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import { attributeGetter } from './attributes.ts'
import { type FilterEntry, filter } from './define.ts'

function fallBack(_: Runtime, value: Value, args: BoundArguments): Value {
  const [fallback = '', onFalse = false] = args
  const missing = value instanceof Undefined || (isTrue(onFalse) && !isTrue(value))
  return missing ? fallback : value
}

/**
 * Where output is escaped, one piece of markup makes the whole markup. Elsewhere each item is
 * turned into text as soon as it is read, which shows where reading it changes something: `loop`.
 */
function join(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [separator = '', attribute = null] = args
  const get = attributeGetter(attribute)
  if (!runtime.autoescape) {
    const texts = mapItems(runtime, value, (item) => toText(runtime, get(runtime, item)))
    return joinTexts(runtime, toText(runtime, separator), texts)
  }
  const items = mapItems(runtime, value, (item) => get(runtime, item))
  const escapes = [separator, ...items].some((item) => item instanceof Markup)
  const asPart = (item: Value): string => {
    const text = toText(runtime, item)
    runtime.read(text, escapes ? 'walk' : 'free')
    return escapes && !(item instanceof Markup) ? escapeText(text) : text
  }
  const text = joinTexts(runtime, asPart(separator), items.map(asPart))
  return escapes ? new Markup(text) : text
}

function first(runtime: Runtime, value: Value): Value {
  const next = iterate(runtime, value).next()
  return next.done ? new Undefined('No first item, sequence was empty.') : next.value
}

function last(runtime: Runtime, value: Value): Value {
  if (isOneWay(value)) runtime.fail(`TypeError: '${typeName(value)}' object is not reversible`)
  const item = toArray(runtime, value).at(-1)
  return item === undefined ? new Undefined('No last item, sequence was empty.') : item
}

function random(runtime: Runtime, value: Value): Value {
  const length = lengthOf(runtime, value)
  if (value instanceof Dict) runtime.fail('KeyError: a dict has no random item')
  if (isOneWay(value)) runtime.fail(`TypeError: '${typeName(value)}' object is not subscriptable`)
  const item = toArray(runtime, value)[Math.floor(Math.random() * length)]
  return item === undefined ? new Undefined('No random item, sequence was empty.') : item
}

function reverse(runtime: Runtime, value: Value): Value {
  const text = textOf(value)
  if (text !== null) {
    const reversed = [...text].reverse().join('')
    return value instanceof Markup ? new Markup(reversed) : reversed
  }
  if (tryIterate(runtime, value) === null) runtime.fail('argument must be iterable')
  const items = toArray(runtime, value).reverse()
  // What Python cannot read backwards is copied to a list, the rest yields an iterator.
  return isOneWay(value) ? new List(items) : new Lazy(items[Symbol.iterator]())
}

/** Whether a value can be read forwards only: generators and the `loop` of a `for`. */
function isOneWay(value: Value): boolean {
  return value instanceof Thing && !value.reversible
}

function* batches(runtime: Runtime, value: Value, args: BoundArguments): Generator<Value> {
  const [size, fill = null] = args
  const count = asInteger(runtime, size, 0)
  let batch: Value[] = []
  const items = iterate(runtime, value)
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend()
    if (batch.length === count) {
      runtime.spend(newContainer)
      yield new List(batch)
      batch = []
    }
    batch.push(next.value)
  }
  if (batch.length === 0) return
  while (fill !== null && batch.length < count) {
    runtime.spend()
    batch.push(fill)
  }
  yield new List(batch)
}

/** As many lists as asked for; the first ones get what cannot be shared out evenly. */
function* slices(runtime: Runtime, value: Value, args: BoundArguments): Generator<Value> {
  const [count, fill = null] = args
  const items = toArray(runtime, value)
  const number = asInteger(runtime, count, 0)
  if (number === 0) runtime.fail('ZeroDivisionError: integer division or modulo by zero')
  const each = Math.floor(items.length / number)
  const longer = items.length - each * number
  let start = 0
  for (let index = 0; index < number; index++) {
    runtime.spend(newContainer)
    const end = start + each + (index < longer ? 1 : 0)
    const slice = items.slice(start, end)
    if (fill !== null && index >= longer) slice.push(fill)
    start = end
    yield new List(slice)
  }
}

function items(runtime: Runtime, value: Value): Value {
  if (value instanceof Undefined) return new Lazy([][Symbol.iterator]())
  if (!(value instanceof Dict)) runtime.fail('TypeError: Can only get item pairs from a mapping.')
  return new Lazy(itemsOf(value).iterate(runtime) ?? [][Symbol.iterator]())
}

/** An attribute, and never an item. */
function attribute(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const name = asText(runtime, args[0])
  if (value instanceof Undefined) return value.fail(runtime)
  if (hasAttribute(runtime, value, name)) return getAttribute(runtime, value, name)
  return new Undefined(`${quote(`${typeName(value)} object`)} has no attribute ${quote(name)}`)
}

function count(runtime: Runtime, value: Value): Value {
  return BigInt(lengthOf(runtime, value))
}

export const sequenceFilters: readonly FilterEntry[] = [
  filter('default', 'default_value? boolean?', fallBack, 'free'),
  filter('d', 'default_value? boolean?', fallBack, 'free'),
  filter('length', '', count, 'scan'),
  filter('count', '', count, 'scan'),
  filter('join', 'd? attribute?', join),
  filter('first', '', first, 'free'),
  filter('last', '', last),
  filter('random', '', random),
  filter('reverse', '', reverse),
  filter('list', '', (runtime, value) => new List(toArray(runtime, value))),
  filter('items', '', items, 'free'),
  filter('attr', 'name', attribute),
  filter('batch', 'linecount fill_with?', (...all) => new Lazy(batches(...all))),
  filter('slice', 'slices fill_with?', (...all) => new Lazy(slices(...all))),
]
