import { quote } from '../syntax/text.ts'
import { hashKey, numberOf } from './compare.ts'
import { dictMethods, listMethods, tupleMethods } from './container-methods.ts'
import { formatText } from './format.ts'
import { asInteger, bound, type Methods } from './methods.ts'
import { bitLength } from './numbers.ts'
import { newContainer, newEntry, type Runtime } from './runtime.ts'
import { stringMethods } from './string-methods.ts'
import { characters, sliceText, textLength } from './text.ts'
import { repr, sameKind } from './to-text.ts'
import {
  Callable,
  Dict,
  List,
  Markup,
  NamedTuple,
  PyObject,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from './values.ts'

/** Attributes that every Python object has and the sandbox never hands out. */
const internal: ReadonlySet<string> = new Set(
  ['class', 'delattr', 'dir', 'doc', 'eq', 'format', 'ge', 'getattribute', 'gt', 'hash']
    .concat(['init', 'init_subclass', 'le', 'lt', 'ne', 'new', 'reduce', 'reduce_ex', 'repr'])
    .concat(['setattr', 'sizeof', 'str', 'subclasshook', 'module', 'dict', 'len', 'iter'])
    .concat(['contains', 'getitem', 'call', 'self', 'name', 'qualname', 'globals', 'code'])
    .map((name) => `__${name}__`),
)

function missing(runtime: Runtime, value: Value, key: Value): Undefined {
  const type = value === null ? 'None' : `${typeName(value)} object`
  const text = textOf(key)
  runtime.spend(newContainer)
  if (text !== null) runtime.read(text, 'walk')
  if (text !== null) return new Undefined(`${quote(type)} has no attribute ${quote(text)}`)
  return new Undefined(`${type} has no element ${repr(runtime, key)}`)
}

function unsafe(value: Value, name: string): Undefined {
  const what = `attribute ${quote(name)} of ${quote(typeName(value))} object`
  return new Undefined(`access to ${what} is unsafe.`, true)
}

/**
 * `value.name` in the sandbox: a Python attribute first, then an item of that name. Attributes that
 * start with an underscore are refused; items may have any name, because they are data.
 */
export function getAttribute(runtime: Runtime, value: Value, name: string): Value {
  if (value instanceof Undefined) return value.fail(runtime)
  if (internal.has(name)) return unsafe(value, name)
  const attribute = ownAttribute(runtime, value, name)
  if (attribute !== undefined) return attribute
  const item = ownItem(runtime, value, name)
  return item === undefined ? missing(runtime, value, name) : item
}

/** `value[key]` in the sandbox: an item first, then, for strings, an attribute. */
export function getItem(runtime: Runtime, value: Value, key: Value): Value {
  if (value instanceof Undefined) return value.fail(runtime)
  const item = ownItem(runtime, value, key)
  if (item !== undefined) return item
  const name = textOf(key)
  if (name === null) return missing(runtime, value, key)
  if (internal.has(name)) return unsafe(value, name)
  const attribute = ownAttribute(runtime, value, name)
  return attribute === undefined ? missing(runtime, value, name) : attribute
}

/** True if a value has a Python attribute of that name, safe or not. */
export function hasAttribute(runtime: Runtime, value: Value, name: string): boolean {
  return internal.has(name) || ownAttribute(runtime, value, name) !== undefined
}

/** A Python attribute only; undefined if there is none. */
function ownAttribute(runtime: Runtime, value: Value, name: string): Value | undefined {
  if (typeof value === 'string' || value instanceof Markup) {
    if (name === 'format' || name === 'format_map') return formatMethod(value, name)
    return find(runtime, stringMethods, name, value)
  }
  if (value instanceof Dict) return find(runtime, dictMethods, name, value)
  if (value instanceof List) return find(runtime, listMethods, name, value)
  if (value instanceof NamedTuple && value.names.includes(name)) {
    return value.items[value.names.indexOf(name)]
  }
  if (value instanceof Tuple) return find(runtime, tupleMethods, name, value)
  if (value instanceof PyObject) return value.attribute(name, runtime)
  return numberAttribute(value, name)
}

function find<Self extends Value>(
  runtime: Runtime,
  methods: Methods<Self>,
  name: string,
  self: Self,
): Value | undefined {
  const method = methods.get(name)
  if (method === undefined) return undefined
  runtime.spend(newContainer)
  return bound(name, self, method)
}

function formatMethod(self: string | Markup, name: string): Callable {
  const access = { attribute: getAttribute, item: getItem }
  return new Callable(name, (runtime, args) => {
    const [mapping = null] = args.positional
    const given =
      name === 'format' ? args : { positional: [], keywords: keywordsOf(runtime, mapping) }
    const escapes = self instanceof Markup
    runtime.readAll([self], 'walk')
    return sameKind(self, formatText(runtime, textOf(self) ?? '', given, access, escapes))
  })
}

/** A dict as keyword arguments, for `**` and `format_map`. */
export function keywordsOf(runtime: Runtime, mapping: Value): Map<string, Value> {
  if (!(mapping instanceof Dict)) {
    if (mapping instanceof Undefined) return new Map()
    return runtime.fail(`TypeError: argument must be a mapping, not ${typeName(mapping)}`)
  }
  runtime.spend(newEntry * mapping.entries.size)
  const keywords = new Map<string, Value>()
  for (const [key, value] of mapping.entries.values()) {
    const name = textOf(key)
    if (name === null) runtime.fail('TypeError: keywords must be strings')
    keywords.set(name, value)
  }
  return keywords
}

function numberAttribute(value: Value, name: string): Value | undefined {
  const number = numberOf(value)
  if (number === null) return undefined
  if (name === 'real') return number
  if (name === 'imag') return typeof number === 'bigint' ? 0n : 0
  if (name === 'is_integer' && typeof value === 'number') {
    return new Callable(name, () => Number.isInteger(value))
  }
  if (name !== 'bit_length' || typeof number !== 'bigint') return undefined
  const absolute = number < 0n ? -number : number
  return new Callable(name, (runtime) => {
    runtime.allowBits(bitLength(absolute))
    return BigInt(absolute === 0n ? 0 : absolute.toString(2).length)
  })
}

function ownItem(runtime: Runtime, value: Value, key: Value): Value | undefined {
  if (value instanceof Dict) return dictItem(runtime, value, key)
  if (value instanceof PyObject) return value.item(key, runtime)
  const text = textOf(value)
  const isSequence = value instanceof List || value instanceof Tuple
  if (text === null && !isSequence) return undefined
  const index = numberOf(key)
  if (typeof index !== 'bigint') return undefined
  if (isSequence) return itemAt(value.items, index)
  runtime.read(text ?? '')
  const char = characterAt(text ?? '', index)
  return char === undefined ? undefined : sameKind(value, char)
}

/** A lookup with an unhashable key yields undefined, because Jinja2 catches the TypeError. */
function dictItem(runtime: Runtime, dict: Dict, key: Value): Value | undefined {
  if (key instanceof List || key instanceof Dict) return undefined
  return dict.entries.get(hashKey(runtime, key))?.[1]
}

/** The character at an index; a negative index counts from the end. */
function characterAt(text: string, index: bigint): string | undefined {
  const length = textLength(text)
  const at = Number(index < 0n ? index + BigInt(length) : index)
  return at >= 0 && at < length ? sliceText(text, at, at + 1) : undefined
}

function itemAt<T>(items: ArrayLike<T>, index: bigint): T | undefined {
  return items[Number(index < 0n ? index + BigInt(items.length) : index)]
}

/** `value[start:stop:step]`. */
export function getSlice(runtime: Runtime, value: Value, bounds: readonly Value[]): Value {
  if (value instanceof Undefined) return value.fail(runtime)
  const text = textOf(value)
  if (text !== null) {
    runtime.read(text)
    const step = stepOf(runtime, bounds)
    if (step === 1) {
      const [start, stop] = sliceBounds(runtime, textLength(text), bounds)
      return sameKind(value, sliceText(text, start, Math.max(start, stop)))
    }
    runtime.read(text, 'walk')
    const chars = characters(text)
    return sameKind(value, sliceItems(runtime, chars, bounds).join(''))
  }
  if (value instanceof List) return new List(sliceItems(runtime, value.items, bounds))
  if (value instanceof Tuple) return new Tuple(sliceItems(runtime, value.items, bounds))
  const slice = value instanceof PyObject ? value.slice(bounds, runtime) : null
  if (slice !== null) return slice
  return runtime.fail(`TypeError: '${typeName(value)}' object is not subscriptable`)
}

function stepOf(runtime: Runtime, [, , step = null]: readonly Value[]): number {
  const by = step === null ? 1 : asInteger(runtime, step, 1)
  return by === 0 ? runtime.fail('ValueError: slice step cannot be zero') : by
}

/** Start and end of a slice, clipped to the length; -1 is before the first item. */
export function sliceBounds(
  runtime: Runtime,
  length: number,
  bounds: readonly Value[],
): [start: number, stop: number, step: number] {
  const [start = null, stop = null] = bounds
  const step = stepOf(runtime, bounds)
  const lowest = step > 0 ? 0 : -1
  const highest = step > 0 ? length : length - 1
  const clip = (bound: Value, absent: number): number => {
    if (bound === null) return absent
    const index = asInteger(runtime, bound, 0)
    return Math.min(Math.max(index < 0 ? index + length : index, lowest), highest)
  }
  return step > 0
    ? [clip(start, lowest), clip(stop, highest), step]
    : [clip(start, highest), clip(stop, lowest), step]
}

function sliceItems<T>(runtime: Runtime, items: ArrayLike<T>, bounds: readonly Value[]): T[] {
  const [start, stop, step] = sliceBounds(runtime, items.length, bounds)
  runtime.spend(newContainer + Math.max(0, Math.ceil((stop - start) / step)))
  const picked: T[] = []
  for (let at = start; step > 0 ? at < stop : at > stop; at += step) {
    const item = items[at]
    if (item !== undefined) picked.push(item)
  }
  return picked
}
