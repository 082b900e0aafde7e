import { numberOf } from './compare.ts'
import { DateTime } from './date-time.ts'
import { bitLength, floatRepr, toFloat } from './numbers.ts'
import { floatDigits } from './printf.ts'
import { newContainer, type Runtime } from './runtime.ts'
import { sliceText, textLength } from './text.ts'
import { escapeValue, integerText, repr, TextBuilder, toText } from './to-text.ts'
import { type CallArguments, Markup, textOf, typeName, Undefined, type Value } from './values.ts'

/** Access to `{0.name}` and `{0[key]}` in a replacement field, by the sandbox's rules. */
type FieldAccess = {
  readonly attribute: (runtime: Runtime, value: Value, name: string) => Value
  readonly item: (runtime: Runtime, value: Value, key: Value) => Value
}

/** `format.format(*positional, **keywords)`. On markup, inserted values are escaped. */
export function formatText(
  runtime: Runtime,
  format: string,
  args: CallArguments,
  access: FieldAccess,
  escapes: boolean,
): string {
  return new BraceFormatter(runtime, args, access, escapes).expand(format, 2)
}

class BraceFormatter {
  private readonly runtime: Runtime
  private readonly args: CallArguments
  private readonly access: FieldAccess
  private readonly escapes: boolean
  private nextIndex = 0

  constructor(runtime: Runtime, args: CallArguments, access: FieldAccess, escapes: boolean) {
    this.runtime = runtime
    this.args = args
    this.access = access
    this.escapes = escapes
  }

  /** A format specification may contain fields, but those may not: two levels in all. */
  expand(format: string, levels: number): string {
    if (levels === 0) this.runtime.fail('ValueError: Max string recursion exceeded')
    const out = new TextBuilder(this.runtime)
    let at = 0
    while (at < format.length) {
      const [piece, end] = this.readPiece(format, at, levels)
      this.runtime.spend(newContainer)
      out.write(piece)
      at = end
    }
    return out.text()
  }

  private readPiece(format: string, at: number, levels: number): [string, number] {
    const char = format[at]
    if (char !== '{' && char !== '}') {
      const end = format.slice(at).search(/[{}]/)
      return end < 0 ? [format.slice(at), format.length] : [format.slice(at, at + end), at + end]
    }
    if (format[at + 1] === char) return [char, at + 2]
    if (char === '}') this.runtime.fail("ValueError: Single '}' encountered in format string")
    const end = fieldEnd(format, at + 1)
    if (end < 0) this.runtime.fail("ValueError: expected '}' before end of string")
    return [this.field(format.slice(at + 1, end), levels), end + 1]
  }

  private field(field: string, levels: number): string {
    const match = /^([^!:]*)(?:!([^:]*))?(?::([\s\S]*))?$/.exec(field)
    if (match === null) return this.runtime.fail('ValueError: bad replacement field')
    const [, name = '', conversion, spec = ''] = match
    const value = this.converted(this.value(name), conversion)
    const text = formatValue(this.runtime, value, spec && this.expand(spec, levels - 1))
    if (!this.escapes) return text
    return value instanceof Markup ? text : escapeValue(this.runtime, text).text
  }

  private converted(value: Value, conversion: string | undefined): Value {
    if (conversion === undefined) return value
    if (conversion === 'r' || conversion === 'a') return repr(this.runtime, value)
    if (conversion === 's') return toText(this.runtime, value)
    return this.runtime.fail(`ValueError: Unknown conversion specifier ${conversion}`)
  }

  private value(path: string): Value {
    const first = /^[^.[]*/.exec(path)?.[0] ?? ''
    let value = this.argument(first)
    const rest = path.slice(first.length)
    let read = 0
    for (const match of rest.matchAll(/\.([^.[]+)|\[([^\]]+)\]/gy)) {
      const [whole, name, key = ''] = match
      read += whole.length
      if (name !== undefined) value = this.access.attribute(this.runtime, value, name)
      else value = this.access.item(this.runtime, value, /^\d+$/.test(key) ? BigInt(key) : key)
    }
    if (read < rest.length) this.runtime.fail('ValueError: Empty attribute in format string')
    return value
  }

  private argument(name: string): Value {
    const { positional, keywords } = this.args
    if (name !== '' && !/^\d+$/.test(name)) {
      const value = keywords.get(name)
      return value === undefined ? this.runtime.fail(`KeyError: '${name}'`) : value
    }
    const index = name === '' ? this.nextIndex++ : Number(name)
    const value = positional[index]
    if (value !== undefined) return value
    const message = 'IndexError: Replacement index out of range for positional args tuple'
    return this.runtime.fail(message)
  }
}

/** End of the field that starts at `from`, counting the braces of nested fields. */
function fieldEnd(format: string, from: number): number {
  let depth = 1
  for (let at = from; at < format.length; at++) {
    if (format[at] === '{') depth++
    if (format[at] === '}' && --depth === 0) return at
  }
  return -1
}

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
function formatValue(runtime: Runtime, value: Value, text: string): string {
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
