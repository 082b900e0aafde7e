import { numberOf } from '../python/compare.ts'
import type { BoundArguments } from '../python/methods.ts'
import { asInteger, asText } from '../python/methods.ts'
import { roundFloat, roundInteger, toFixed, toFloat } from '../python/numbers.ts'
import { binary } from '../python/operators.ts'
import type { Runtime } from '../python/runtime.ts'
import { isTrue, textOf, typeName, Undefined, type Value } from '../python/values.ts'
import { type FilterEntry, filter } from './define.ts'

const floatPattern =
  /^[-+]?(?:(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)$/i

/** `float(text)`, or null where Python raises. */
function parseFloatText(text: string): number | null {
  const trimmed = text.trim()
  if (!floatPattern.test(trimmed)) return null
  const [, sign = '', word = ''] = /^([-+]?)(inf|nan)?/i.exec(trimmed) ?? []
  if (word === '') return Number(trimmed.replaceAll('_', ''))
  const value = word.toLowerCase() === 'nan' ? Number.NaN : Number.POSITIVE_INFINITY
  return sign === '-' ? -value : value
}

/** Maximum digits that CPython converts to an int in base 10; here also for other bases. */
const maxDigits = 4300

const prefixes: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16 }

/** `int(text, base)`, or null where Python raises. */
function parseIntegerText(text: string, base: number): bigint | null {
  const match = /^([-+]?)(?:0([box])_?)?([0-9a-z]+(?:_[0-9a-z]+)*)$/i.exec(text.trim())
  if (match === null) return null
  const [, sign, letter = '', body = ''] = match
  const prefixed = prefixes[letter.toLowerCase()]
  if (prefixed !== undefined && (base === 0 || base === prefixed)) {
    return digitsToInteger(body.replaceAll('_', ''), prefixed, sign === '-')
  }
  const digits = text.trim().replace(/^[-+]/, '').replaceAll('_', '')
  if (base === 0 && /^0\d/.test(digits) && !/^0+$/.test(digits)) return null
  return digitsToInteger(digits, base === 0 ? 10 : base, sign === '-')
}

function digitsToInteger(digits: string, base: number, negative: boolean): bigint | null {
  // Bounds the loop below.
  if (digits.length > maxDigits) return null
  if (base === 10 && /^\d+$/.test(digits)) return negative ? -BigInt(digits) : BigInt(digits)
  let value = 0n
  for (const char of digits) {
    const digit = Number.parseInt(char, 36)
    if (!(digit < base)) return null
    value = value * BigInt(base) + BigInt(digit)
  }
  return negative ? -value : value
}

/**
 * `int(text, base)`, which counts steps for a base other than 10: the time is quadratic in the
 * number of digits.
 */
function readInteger(runtime: Runtime, text: string, base: number): bigint | null {
  const digits = Math.min(text.length, maxDigits)
  if (base !== 10) runtime.spend((digits ** 2) >> 10)
  return parseIntegerText(text, base)
}

function toInteger(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [fallback = 0n, base] = args
  if (value instanceof Undefined) return value.fail(runtime)
  const text = textOf(value)
  const number =
    text === null ? numberOf(value) : readInteger(runtime, text, asInteger(runtime, base, 10))
  // `'42.5'|int` is 42.
  const found = number ?? (text === null ? null : parseFloatText(text))
  if (found === null || typeof found === 'bigint') return found ?? fallback
  if (Number.isNaN(found)) return fallback
  if (!Number.isFinite(found))
    runtime.fail('OverflowError: cannot convert float infinity to integer')
  return BigInt(Math.trunc(found))
}

function toFloatValue(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [fallback = 0] = args
  if (value instanceof Undefined) return value.fail(runtime)
  const text = textOf(value)
  if (text !== null) return parseFloatText(text) ?? fallback
  const number = numberOf(value)
  return number === null ? fallback : toFloat(runtime, number)
}

function absolute(runtime: Runtime, value: Value): Value {
  const number = numberOf(value)
  if (number !== null) return number < 0 || Object.is(number, -0) ? -number : number
  return runtime.fail(`TypeError: bad operand type for abs(): '${typeName(value)}'`)
}

function round(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [precision, method = 'common'] = args
  const way = asText(runtime, method)
  if (!['common', 'ceil', 'floor'].includes(way)) {
    runtime.fail('method must be common, ceil or floor')
  }
  const digits = asInteger(runtime, precision, 0)
  const number = numberOf(value)
  if (number === null) {
    return runtime.fail(`TypeError: type ${typeName(value)} doesn't define __round__ method`)
  }
  if (way === 'common') return roundCommon(runtime, number, digits)
  const scale = binary(runtime, 'pow', 10n, BigInt(digits))
  const scaled = binary(runtime, 'mul', number, scale)
  return binary(runtime, 'div', wholeNumber(runtime, scaled, way), scale)
}

function roundCommon(runtime: Runtime, number: bigint | number, digits: number): Value {
  // Bounded, because roundFloat computes nothing for more than 323 digits, and allowBits counts the
  // steps of roundInteger.
  runtime.spend(Math.min(Math.abs(digits), 350) >> 2)
  if (typeof number === 'number') return roundFloat(number, digits)
  runtime.allowBits(Math.max(0, -digits) * 4)
  return roundInteger(number, digits)
}

function wholeNumber(runtime: Runtime, value: Value, way: string): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return runtime.fail('OverflowError: cannot convert float infinity to integer')
  }
  return BigInt(way === 'ceil' ? Math.ceil(value) : Math.floor(value))
}

const units = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']

function fileSize(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [binaryUnits = false] = args
  const base = isTrue(binaryUnits) ? 1024 : 1000
  const bytes = toFloatStrictly(runtime, value)
  if (bytes === 1) return '1 Byte'
  if (bytes < base) return `${BigInt(Math.trunc(bytes))} Bytes`
  const found = units.findIndex((_, index) => bytes < base ** (index + 2))
  const power = found < 0 ? units.length - 1 : found
  const suffix = `${base === 1024 ? `${units[power]?.toUpperCase()}i` : units[power]}B`
  return `${toFixed((base * bytes) / base ** (power + 2), 1)} ${suffix}`
}

function toFloatStrictly(runtime: Runtime, value: Value): number {
  if (value instanceof Undefined) return value.fail(runtime)
  const text = textOf(value)
  const number = text === null ? numberOf(value) : parseFloatText(text)
  if (number === null) return runtime.fail('ValueError: could not convert to float')
  const bytes = toFloat(runtime, number)
  return Number.isFinite(bytes) ? bytes : runtime.fail('ValueError: not a finite size')
}

export const numberFilters: readonly FilterEntry[] = [
  filter('int', 'default? base?', toInteger),
  filter('float', 'default?', toFloatValue),
  filter('abs', '', absolute),
  filter('round', 'precision? method?', round),
  filter('filesizeformat', 'binary?', fileSize),
]
