import { MAX_VALUE_DEPTH } from '../limits.ts'
import { iterate } from './iterate.ts'
import { bitLength } from './numbers.ts'
import type { Runtime } from './runtime.ts'
import { joinTexts } from './string-operations.ts'
import { compareText, findFirst } from './text.ts'
import { Dict, List, Tuple, textOf, typeName, Undefined, type Value } from './values.ts'

/** A bool, int or float as a JavaScript number or bigint, which compare exactly; null otherwise. */
export function numberOf(value: Value): bigint | number | null {
  if (typeof value === 'boolean') return value ? 1n : 0n
  return typeof value === 'bigint' || typeof value === 'number' ? value : null
}

/** `a == b`. */
export function equals(runtime: Runtime, a: Value, b: Value, depth = 0): boolean {
  runtime.spend()
  if (depth > MAX_VALUE_DEPTH) runtime.fail('maximum recursion depth exceeded')
  const left = numberOf(a)
  const right = numberOf(b)
  // biome-ignore lint/suspicious/noDoubleEquals: only == compares a bigint with a number
  if (left !== null && right !== null) return left == right
  const text = textOf(a)
  if (text !== null) {
    const other = textOf(b)
    if (other?.length === text.length) runtime.read(text)
    return text === other
  }
  if (a === b) return true
  if (a instanceof List && b instanceof List) return sameItems(runtime, a.items, b.items, depth)
  if (a instanceof Tuple && b instanceof Tuple) return sameItems(runtime, a.items, b.items, depth)
  if (a instanceof Dict && b instanceof Dict) return sameEntries(runtime, a, b, depth)
  return a instanceof Undefined && b instanceof Undefined
}

/**
 * True for the same object, which Python tests before equality. False for strings: only `equals`
 * compares them, and pays for it.
 */
export function isIdentical(a: Value, b: Value): boolean {
  return typeof a === 'object' && a === b
}

function sameItems(
  runtime: Runtime,
  a: readonly Value[],
  b: readonly Value[],
  depth: number,
): boolean {
  if (a.length !== b.length) return false
  return a.every((item, index) => {
    const other = b[index]
    return (
      other !== undefined && (isIdentical(item, other) || equals(runtime, item, other, depth + 1))
    )
  })
}

function sameEntries(runtime: Runtime, a: Dict, b: Dict, depth: number): boolean {
  if (a.entries.size !== b.entries.size) return false
  for (const [key, [, value]] of a.entries) {
    const other = b.entries.get(key)
    if (other === undefined || !equals(runtime, value, other[1], depth + 1)) return false
  }
  return true
}

/** Negative, zero or positive as `a` sorts before, with or after `b`; NaN if neither. */
export function compare(runtime: Runtime, a: Value, b: Value, sign = '<', depth = 0): number {
  runtime.spend()
  if (depth > MAX_VALUE_DEPTH) runtime.fail('maximum recursion depth exceeded')
  const left = numberOf(a)
  const right = numberOf(b)
  if (left !== null && right !== null) return compareNumbers(left, right)
  const leftText = textOf(a)
  const rightText = textOf(b)
  if (leftText !== null && rightText !== null) {
    runtime.read(leftText)
    runtime.read(rightText)
    return compareText(leftText, rightText)
  }
  const lists = a instanceof List && b instanceof List
  if (lists || (a instanceof Tuple && b instanceof Tuple)) {
    return compareItems(runtime, a.items, b.items, sign, depth)
  }
  if (a instanceof Undefined) return a.fail(runtime)
  if (b instanceof Undefined) return b.fail(runtime)
  const types = `'${typeName(a)}' and '${typeName(b)}'`
  return runtime.fail(`TypeError: '${sign}' not supported between instances of ${types}`)
}

function compareNumbers(a: bigint | number, b: bigint | number): number {
  if (a < b) return -1
  if (a > b) return 1
  // biome-ignore lint/suspicious/noDoubleEquals: only == compares a bigint with a number
  return a == b ? 0 : Number.NaN
}

function compareItems(
  runtime: Runtime,
  a: readonly Value[],
  b: readonly Value[],
  sign: string,
  depth: number,
): number {
  for (const [index, item] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    if (isIdentical(item, other) || equals(runtime, item, other, depth + 1)) continue
    return compare(runtime, item, other, sign, depth + 1)
  }
  return a.length - b.length
}

/** `item in container`. */
export function contains(runtime: Runtime, container: Value, item: Value): boolean {
  const text = textOf(container)
  if (text !== null) {
    const part = textOf(item)
    if (part !== null) {
      runtime.read(text)
      runtime.read(part, 'walk')
      return findFirst(text, part) >= 0
    }
    const type = typeName(item)
    runtime.fail(`TypeError: 'in <string>' requires string as left operand, not ${type}`)
  }
  if (container instanceof Dict) return container.entries.has(hashKey(runtime, item))
  const items = iterate(runtime, container)
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend()
    if (isIdentical(next.value, item) || equals(runtime, next.value, item)) return true
  }
  return false
}

/** Integers in hexadecimal, because conversion to decimal takes more than linear time. */
function numberKey(runtime: Runtime, number: bigint | number): string {
  if (typeof number === 'number' && !Number.isInteger(number)) return `n${number}`
  const integer = BigInt(number)
  runtime.spend(bitLength(integer) >> 8)
  return `n${integer.toString(16)}`
}

const identities = new WeakMap<object, number>()
let lastIdentity = 0

/** A key that is equal for values that Python finds equal. Lists and dicts have none. */
export function hashKey(runtime: Runtime, value: Value, depth = 0): string {
  runtime.spend()
  if (depth > MAX_VALUE_DEPTH) runtime.fail('maximum recursion depth exceeded')
  if (value === null) return 'N'
  const text = textOf(value)
  if (text !== null) {
    runtime.read(text)
    return `s${text}`
  }
  const number = numberOf(value)
  if (number !== null) return numberKey(runtime, number)
  if (value instanceof Tuple) {
    const keys = value.items.map((item) => hashKey(runtime, item, depth + 1))
    const parts = keys.map((key) => `${key.length}:${key}`)
    return `t${joinTexts(runtime, '', parts)}`
  }
  if (value instanceof Undefined) return 'U'
  if (value instanceof List || value instanceof Dict || typeof value !== 'object') {
    return runtime.fail(`TypeError: unhashable type: '${typeName(value)}'`)
  }
  const identity = identities.get(value) ?? ++lastIdentity
  identities.set(value, identity)
  return `o${identity}`
}
