import { getAttribute, hasAttribute } from '../python/access.ts'
import { itemsOf } from '../python/container-methods.ts'
import { iterate, lengthOf, mapItems, toArray, tryIterate } from '../python/iterate.ts'
import { asInteger, asText, type BoundArguments } from '../python/methods.ts'
import { newCall, newContainer, type Runtime } from '../python/runtime.ts'
import { joinTexts } from '../python/string-operations.ts'
import { escapeText, toText } from '../python/to-text.ts'
import {
  type CallArguments,
  Dict,
  isTrue,
  Generator as Lazy,
  List,
  Markup,
  PyObject,
  textOf,
  typeName,
  Undefined,
  type Value,
} from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import { attributeGetter, type FilterEntry, filter } from './define.ts'

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
  // A generator cannot be reversed, so Jinja2 copies it to a list. Other values yield an iterator.
  return isOneWay(value) ? new List(items) : new Lazy(items[Symbol.iterator]())
}

/** True if a value can only be read forwards: generators and the `loop` of a `for`. */
function isOneWay(value: Value): boolean {
  return value instanceof PyObject && !value.reversible
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

/** Splits into the given number of lists. The first lists get the remainder. */
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

/** Reads an attribute, never an item. */
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

/**
 * Filters that apply other filters. They return generators, so nothing runs before the first read.
 */

type OnItem = (item: Value) => Value

function* mapped(runtime: Runtime, value: Value, args: CallArguments): Generator<Value> {
  if (!isTrue(value)) return
  const apply = mapping(runtime, args)
  const items = iterate(runtime, value)
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend(newCall)
    yield apply(next.value)
  }
}

function mapping(runtime: Runtime, { positional, keywords }: CallArguments): OnItem {
  const [name, ...rest] = positional
  if (name === undefined) return attributeMapping(runtime, keywords)
  return (item) => {
    const filter = runtime.filters.get(textOf(name) ?? '')
    if (filter === undefined) runtime.fail(`No filter named ${quote(textOf(name) ?? '')}.`)
    return filter(runtime, item, { positional: rest, keywords })
  }
}

function attributeMapping(runtime: Runtime, keywords: ReadonlyMap<string, Value>): OnItem {
  const attribute = keywords.get('attribute')
  if (attribute === undefined) return runtime.fail('map requires a filter argument')
  for (const name of keywords.keys()) {
    if (name !== 'attribute' && name !== 'default') {
      runtime.fail(`Unexpected keyword argument ${quote(name)}`)
    }
  }
  const get = attributeGetter(attribute, keywords.get('default') ?? null)
  return (item) => get(runtime, item)
}

type Selection = { readonly keep: boolean; readonly byAttribute: boolean }

function* selected(
  runtime: Runtime,
  value: Value,
  args: CallArguments,
  { keep, byAttribute }: Selection,
): Generator<Value> {
  if (!isTrue(value)) return
  const passes = condition(runtime, args, byAttribute)
  const items = iterate(runtime, value)
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend(newCall)
    if (isTrue(passes(next.value)) === keep) yield next.value
  }
}

/** A test by name, on the item or its attribute; without a name, the item's truth value. */
function condition(
  runtime: Runtime,
  { positional, keywords }: CallArguments,
  byAttribute: boolean,
): OnItem {
  const [attribute, ...afterAttribute] = positional
  if (byAttribute && attribute === undefined) {
    return runtime.fail('Missing parameter for attribute name')
  }
  const get = attributeGetter(byAttribute ? (attribute ?? null) : null)
  const [name, ...rest] = byAttribute ? afterAttribute : positional
  if (name === undefined) return (item) => get(runtime, item)
  return (item) => {
    const test = runtime.tests.get(textOf(name) ?? '')
    if (test === undefined) runtime.fail(`No test named ${quote(textOf(name) ?? '')}.`)
    return test(runtime, get(runtime, item), { positional: rest, keywords })
  }
}

/** Steps for a generator, which stores everything that it reads later. */
const newGenerator = 12

function lazy(runtime: Runtime, items: Generator<Value>): Lazy {
  runtime.spend(newGenerator)
  return new Lazy(items)
}

function selection(name: string, how: Selection): FilterEntry {
  return [name, (runtime, value, args) => lazy(runtime, selected(runtime, value, args, how))]
}

export const selectionFilters: readonly FilterEntry[] = [
  ['map', (runtime, value, args) => lazy(runtime, mapped(runtime, value, args))],
  selection('select', { keep: true, byAttribute: false }),
  selection('reject', { keep: false, byAttribute: false }),
  selection('selectattr', { keep: true, byAttribute: true }),
  selection('rejectattr', { keep: false, byAttribute: true }),
]
