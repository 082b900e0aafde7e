import type { BinaryOperator } from '../syntax/tree.ts'
import { numberOf } from './compare.ts'
import { asInteger } from './methods.ts'
import { bitLength, toFloat } from './numbers.ts'
import { formatPercent } from './printf.ts'
import { newContainer, type Runtime } from './runtime.ts'
import { escapeValue, sameKind } from './to-text.ts'
import { List, Markup, Tuple, textOf, typeName, Undefined, type Value } from './values.ts'

const symbols: Readonly<Record<BinaryOperator, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  floordiv: '//',
  mod: '%',
  pow: '** or pow()',
}

/** `a + b` and the other arithmetic operators, with Python's rules for every pair of types. */
export function binary(runtime: Runtime, op: BinaryOperator, a: Value, b: Value): Value {
  runtime.spend()
  if (op === 'mod' && textOf(a) !== null) return formatPercent(runtime, a, b)
  if (a instanceof Undefined) return a.fail(runtime)
  if (b instanceof Undefined) return b.fail(runtime)
  const left = numberOf(a)
  const right = numberOf(b)
  if (left !== null && right !== null) return arithmetic(runtime, op, left, right)
  const sequence =
    op === 'add' ? concatenate(runtime, a, b) : op === 'mul' ? repeat(runtime, a, b) : null
  if (sequence !== null) return sequence
  const types = `'${typeName(a)}' and '${typeName(b)}'`
  return runtime.fail(`TypeError: unsupported operand type(s) for ${symbols[op]}: ${types}`)
}

/** `+a` and `-a`. */
export function unary(runtime: Runtime, kind: 'neg' | 'pos', value: Value): Value {
  if (value instanceof Undefined) return value.fail(runtime)
  const number = numberOf(value)
  if (number !== null) return kind === 'neg' ? -number : number
  const sign = kind === 'neg' ? '-' : '+'
  return runtime.fail(`TypeError: bad operand type for unary ${sign}: '${typeName(value)}'`)
}

function concatenate(runtime: Runtime, a: Value, b: Value): Value | null {
  const left = textOf(a)
  const right = textOf(b)
  if (left !== null && right !== null) {
    // V8 keeps both parts and copies them when the text is read, and reading is charged then.
    runtime.payForText(Math.min(left.length, right.length), left.length + right.length)
    if (!(a instanceof Markup || b instanceof Markup)) return left + right
    return new Markup(escapeValue(runtime, a).text + escapeValue(runtime, b).text)
  }
  if (a instanceof List && b instanceof List) return new List(joined(runtime, a.items, b.items))
  if (a instanceof Tuple && b instanceof Tuple) return new Tuple(joined(runtime, a.items, b.items))
  return null
}

function joined(runtime: Runtime, a: readonly Value[], b: readonly Value[]): Value[] {
  runtime.spend(newContainer + a.length + b.length)
  return a.concat(b)
}

function repeat(runtime: Runtime, a: Value, b: Value): Value | null {
  if (numberOf(a) !== null) return numberOf(b) === null ? repeat(runtime, b, a) : null
  if (typeof b === 'number' || numberOf(b) === null) return null
  const times = Math.max(0, asInteger(runtime, b, 0))
  const text = textOf(a)
  if (text !== null) {
    runtime.allowLength(text.length * times)
    return sameKind(a, text === '' ? '' : text.repeat(times))
  }
  if (!(a instanceof List || a instanceof Tuple)) return null
  runtime.spend(newContainer + a.items.length * times)
  const items = a.items.length === 0 ? [] : Array.from({ length: times }, () => a.items).flat()
  return a instanceof List ? new List(items) : new Tuple(items)
}

type Num = bigint | number

function arithmetic(runtime: Runtime, op: BinaryOperator, a: Num, b: Num): Num {
  if (op === 'pow') return power(runtime, a, b)
  if (typeof a === 'bigint' && typeof b === 'bigint' && op !== 'div') {
    return integerArithmetic(runtime, op, a, b)
  }
  if (typeof a === 'bigint' && typeof b === 'bigint') return divideIntegers(runtime, a, b)
  return floatArithmetic(runtime, op, toFloat(runtime, a), toFloat(runtime, b))
}

/** `a / b` of two ints: the float nearest to the exact quotient. */
function divideIntegers(runtime: Runtime, a: bigint, b: bigint): number {
  if (b === 0n) runtime.fail('ZeroDivisionError: division by zero')
  const exact = BigInt(Number.MAX_SAFE_INTEGER)
  if (a <= exact && -a <= exact && b <= exact && -b <= exact) return Number(a) / Number(b)
  // Enough bits that the cut-off remainder matters only as zero or not, which sets the lowest bit.
  const shift = Math.max(0, bitLength(b) - bitLength(a) + 70)
  runtime.allowBits(bitLength(a) + shift)
  const dividend = a << BigInt(shift)
  const inexact = dividend % b === 0n ? 0n : 1n
  const quotient = toFloat(runtime, (dividend / b) | inexact)
  return quotient * 2 ** -shift
}

function integerArithmetic(
  runtime: Runtime,
  op: Exclude<BinaryOperator, 'pow' | 'div'>,
  a: bigint,
  b: bigint,
): bigint {
  const bits = bitLength(a) + bitLength(b)
  // Operands of up to 128 bits together, nearly all, cost no more than the operation itself.
  if (bits > 128) runtime.allowBits(op === 'mul' ? bits : bits >> 1)
  if (op === 'add') return a + b
  if (op === 'sub') return a - b
  if (op === 'mul') return a * b
  if (b === 0n) runtime.fail('ZeroDivisionError: integer division or modulo by zero')
  const remainder = a % b
  const crosses = remainder !== 0n && remainder < 0n !== b < 0n
  if (op === 'mod') return crosses ? remainder + b : remainder
  return crosses ? a / b - 1n : a / b
}

function floatArithmetic(
  runtime: Runtime,
  op: Exclude<BinaryOperator, 'pow'>,
  a: number,
  b: number,
): number {
  if (op === 'add') return a + b
  if (op === 'sub') return a - b
  if (op === 'mul') return a * b
  if (b === 0) runtime.fail('ZeroDivisionError: division by zero')
  if (op === 'div') return a / b
  const remainder = floatModulo(a, b)
  if (op === 'mod') return remainder
  const quotient = (a - remainder) / b
  if (quotient === 0) return (a / b) * 0
  // The quotient is a whole number except for a rounding error in either direction.
  const floor = Math.floor(quotient)
  return quotient - floor > 0.5 ? floor + 1 : floor
}

/** The remainder has the sign of the divisor. */
function floatModulo(a: number, b: number): number {
  const remainder = a % b
  if (remainder === 0) return b < 0 ? -0 : 0
  return remainder < 0 !== b < 0 ? remainder + b : remainder
}

function power(runtime: Runtime, base: Num, exponent: Num): Num {
  if (typeof base === 'bigint' && typeof exponent === 'bigint' && exponent >= 0n) {
    if (base >= -1n && base <= 1n)
      return base === -1n && exponent % 2n === 0n ? 1n : exponent === 0n ? 1n : base
    runtime.allowBits(bitLength(base) * Number(exponent))
    return base ** exponent
  }
  const left = toFloat(runtime, base)
  const right = toFloat(runtime, exponent)
  if (left === 0 && right < 0) {
    runtime.fail('ZeroDivisionError: 0.0 cannot be raised to a negative power')
  }
  if (left < 0 && Number.isFinite(left) && !Number.isInteger(right) && Number.isFinite(right)) {
    runtime.fail('complex numbers are not supported')
  }
  // In Python, 1 to the power of anything is 1, NaN included, unlike in JavaScript.
  const result = left === 1 ? 1 : left ** right
  if (!Number.isFinite(result) && Number.isFinite(left) && Number.isFinite(right)) {
    runtime.fail("OverflowError: (34, 'Numerical result out of range')")
  }
  return result
}
