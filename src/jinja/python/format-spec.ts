import { numberOf } from './compare.ts'
import { DateTime } from './date-time.ts'
import { floatRepr } from './decimal.ts'
import { bitLength, toFloat } from './integers.ts'
import { floatDigits } from './printf.ts'
import { integerText, toText } from './repr.ts'
import type { Runtime } from './runtime.ts'
import { sliceText, textLength } from './text.ts'
import { textOf, typeName, Undefined, type Value } from './values.ts'

type Spec = {
  readonly fill: string
  readonly align: string
  readonly sign: string
  readonly alternate: boolean
  readonly width: number
  readonly grouping: string
  readonly precision: number | null
  readonly kind: string
}

const pattern =
  /^(?:([\s\S])?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d*)([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/u

function parseSpec(runtime: Runtime, text: string): Spec {
  const match = pattern.exec(text)
  if (match === null) return runtime.fail('ValueError: Invalid format specifier')
  const [, fill, align, sign, , alternate, zero, width, grouping, precision, kind] = match
  return {
    fill: fill ?? (zero !== undefined && align === undefined ? '0' : ' '),
    align: align ?? (zero === undefined ? '' : '='),
    sign: sign ?? '-',
    alternate: alternate !== undefined,
    width: Number(width),
    grouping: grouping ?? '',
    precision: precision === undefined ? null : Number(precision),
    kind: kind ?? '',
  }
}

/** `format(value, spec)`, Python's format specification mini-language. */
export function formatValue(runtime: Runtime, value: Value, text: string): string {
  runtime.readAll([text, value], 'scan')
  if (text === '') return toText(runtime, value)
  if (value instanceof DateTime) return value.format(runtime, text)
  const number = numberOf(value)
  const isText = textOf(value) !== null
  if (number === null && !isText) {
    const type = value instanceof Undefined ? 'Undefined' : typeName(value)
    runtime.fail(`TypeError: unsupported format string passed to ${type}.__format__`)
  }
  const spec = parseSpec(runtime, text)
  runtime.allowLength(spec.width)
  runtime.allowLength(spec.precision ?? 0)
  if (number === null) return formatString(runtime, toText(runtime, value), spec)
  if (typeof value === 'boolean' && spec.kind === 's') runtime.fail(unknownCode('s', value))
  return formatNumber(runtime, number, spec)
}

function unknownCode(kind: string, value: Value): string {
  return `ValueError: Unknown format code '${kind}' for object of type '${typeName(value)}'`
}

function formatString(runtime: Runtime, text: string, spec: Spec): string {
  if (spec.kind !== '' && spec.kind !== 's') runtime.fail(unknownCode(spec.kind, text))
  if (spec.align === '=' || spec.sign !== '-' || spec.grouping !== '' || spec.alternate) {
    runtime.fail('ValueError: not allowed in string format specifier')
  }
  const cut = spec.precision === null ? text : sliceText(text, 0, spec.precision)
  return align(cut, '', spec, '<')
}

function formatNumber(runtime: Runtime, number: bigint | number, spec: Spec): string {
  const { kind } = spec
  if (kind === 's') return runtime.fail(unknownCode('s', number))
  const asFloat = typeof number === 'number' || 'eEfFgG%'.includes(kind || '-')
  const negative = number < 0 || Object.is(number, -0)
  const sign = negative ? '-' : spec.sign === '-' ? '' : spec.sign
  const digits = asFloat
    ? floatText(runtime, Math.abs(toFloat(runtime, number)), spec)
    : integerDigits(runtime, number, spec)
  return align(digits, sign, spec, '>')
}

function floatText(runtime: Runtime, value: number, spec: Spec): string {
  const { kind, precision, alternate } = spec
  runtime.spend((precision ?? 6) >> 2)
  if ('bcdoxX'.includes(kind || '-')) return runtime.fail(unknownCode(kind, value))
  if (kind === '%')
    return group(`${floatDigits(value * 100, 'f', precision ?? 6, alternate)}%`, spec)
  if (kind === '' && precision === null) return group(floatRepr(value), spec)
  if (kind !== '')
    return group(floatDigits(value, kind === 'n' ? 'g' : kind, precision ?? 6, alternate), spec)
  const text = floatDigits(value, 'g', precision ?? 6, alternate)
  return group(/^\d+$/.test(text) ? `${text}.0` : text, spec)
}

const bases: Readonly<Record<string, readonly [number, string]>> = {
  b: [2, '0b'],
  o: [8, '0o'],
  x: [16, '0x'],
  X: [16, '0X'],
}

function integerDigits(runtime: Runtime, value: bigint | number, spec: Spec): string {
  const { kind, precision, alternate } = spec
  if (precision !== null) {
    return runtime.fail('ValueError: Precision not allowed in integer format specifier')
  }
  const number = BigInt(value)
  const absolute = number < 0n ? -number : number
  if (kind === 'c') return String.fromCodePoint(Number(absolute & 0xfffffn))
  const [base, prefix] = bases[kind] ?? [10, '']
  runtime.allowBits(bitLength(absolute))
  const digits = base === 10 ? integerText(runtime, absolute) : absolute.toString(base)
  const cased = kind === 'X' ? digits.toUpperCase() : digits
  return (alternate ? prefix : '') + group(cased, spec, base === 10 ? 3 : 4)
}

/** Puts separators between groups of digits before the point. */
function group(text: string, { grouping }: Spec, size = 3): string {
  if (grouping === '') return text
  const end = /^[0-9a-fA-F]*/.exec(text)?.[0].length ?? 0
  const parts: string[] = []
  for (let stop = end; stop > 0; stop -= size)
    parts.push(text.slice(Math.max(0, stop - size), stop))
  return parts.reverse().join(grouping) + text.slice(end)
}

function align(digits: string, sign: string, spec: Spec, usual: string): string {
  const gap = Math.max(0, spec.width - textLength(sign) - textLength(digits))
  const fill = (count: number): string => spec.fill.repeat(count)
  switch (spec.align === '' ? usual : spec.align) {
    case '<':
      return sign + digits + fill(gap)
    case '=':
      return sign + fill(gap) + digits
    case '^':
      return fill(gap >> 1) + sign + digits + fill(gap - (gap >> 1))
    default:
      return fill(gap) + sign + digits
  }
}
