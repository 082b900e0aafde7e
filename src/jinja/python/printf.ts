import { numberOf } from './compare.ts'
import { tryLength } from './iterate.ts'
import { asInteger } from './methods.ts'
import { bitLength, nonFinite, toExponent, toFixed, toFloat, toGeneral } from './numbers.ts'
import { newContainer, type Runtime } from './runtime.ts'
import { sliceText, textLength } from './text.ts'
import { escapeText, integerText, repr, sameKind, TextBuilder, toText } from './to-text.ts'
import { Dict, Markup, Tuple, textOf, typeName, Undefined, type Value } from './values.ts'

type Spec = {
  readonly flags: string
  readonly width: number
  readonly precision: number | null
  readonly kind: string
}

/** `format % args`, the printf-like formatting of strings. On markup, arguments are escaped. */
export function formatPercent(runtime: Runtime, format: Value, args: Value): string | Markup {
  const text = new PercentFormatter(
    runtime,
    textOf(format) ?? '',
    args,
    format instanceof Markup,
  ).run()
  return sameKind(format, text)
}

const directive = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?([\s\S]?)/g

class PercentFormatter {
  private readonly runtime: Runtime
  private readonly format: string
  private readonly args: Value
  private readonly escapes: boolean
  private readonly positional: readonly Value[]
  private used = 0

  constructor(runtime: Runtime, format: string, args: Value, escapes: boolean) {
    this.runtime = runtime
    this.format = format
    this.args = args
    this.escapes = escapes
    this.positional = args instanceof Tuple ? args.items : [args]
  }

  run(): string {
    const out = new TextBuilder(this.runtime)
    let last = 0
    this.runtime.read(this.format)
    for (const match of this.format.matchAll(directive)) {
      this.runtime.spend(newContainer)
      out.write(this.format.slice(last, match.index))
      out.write(this.expand(match))
      last = match.index + match[0].length
    }
    out.write(this.format.slice(last))
    this.checkAllUsed()
    return out.text()
  }

  private checkAllUsed(): void {
    if (this.used >= this.positional.length) return
    // Arguments that support subscripts may stay unused, because they may be meant for `%(name)s`.
    if (this.args instanceof Undefined) return
    if (
      tryLength(this.args) !== null &&
      textOf(this.args) === null &&
      !(this.args instanceof Tuple)
    )
      return
    this.runtime.fail('TypeError: not all arguments converted during string formatting')
  }

  private next(): Value {
    const value = this.positional[this.used++]
    if (value !== undefined) return value
    return this.runtime.fail('TypeError: not enough arguments for format string')
  }

  private expand(match: RegExpExecArray): string {
    const [, key, flags = '', width = '', precision, kind = ''] = match
    if (kind === '%') return '%'
    const keyed = key === undefined ? null : this.lookUp(key)
    const spec = {
      flags,
      width: width === '*' ? asInteger(this.runtime, this.next(), 0) : Number(width),
      precision: precision === undefined ? null : this.readPrecision(precision),
      kind,
    }
    if (kind === '') this.runtime.fail('ValueError: incomplete format')
    if (!'diouxXeEfFgGcrsa'.includes(kind)) {
      this.runtime.fail(`ValueError: unsupported format character '${kind}'`)
    }
    return this.convert(spec, keyed ?? this.next())
  }

  private readPrecision(precision: string): number {
    return precision === '*' ? asInteger(this.runtime, this.next(), 0) : Number(precision)
  }

  private lookUp(key: string): Value {
    if (!(this.args instanceof Dict)) this.runtime.fail('TypeError: format requires a mapping')
    this.used = this.positional.length
    return this.args.get(key) ?? this.runtime.fail(`KeyError: '${key}'`)
  }

  private convert(spec: Spec, value: Value): string {
    const { runtime } = this
    runtime.allowLength(Math.abs(spec.width))
    runtime.allowLength(spec.precision ?? 0)
    switch (spec.kind) {
      case 's':
      case 'r':
      case 'a': {
        const plain = spec.kind === 's' ? toText(runtime, value) : repr(runtime, value)
        runtime.read(plain, this.escapes ? 'walk' : 'scan')
        const text = this.escapes && !(value instanceof Markup) ? escapeText(plain) : plain
        return pad(spec.precision === null ? text : sliceText(text, 0, spec.precision), spec)
      }
      case 'c':
        return pad(this.character(value), spec)
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return padNumber(this.integer(spec, value), spec)
      default:
        return padNumber(this.float(spec, value), spec)
    }
  }

  private character(value: Value): string {
    const text = textOf(value)
    if (text !== null && textLength(text) === 1) return text
    if (typeof value === 'bigint' && value >= 0n && value < 0x110000n) {
      return String.fromCodePoint(Number(value))
    }
    return this.runtime.fail('TypeError: %c requires int or char')
  }

  private number(kind: string, value: Value): bigint | number {
    if (value instanceof Undefined) return value.fail(this.runtime)
    const number = numberOf(value)
    if (number !== null) return number
    const wanted = 'diu'.includes(kind) ? `%${kind} format: a real number` : 'a real number'
    return this.runtime.fail(`TypeError: ${wanted} is required, not ${typeName(value)}`)
  }

  private integer({ kind, precision, flags }: Spec, value: Value): string {
    const number = this.number(kind, value)
    const decimal = 'diu'.includes(kind)
    if (typeof number === 'number' && (!decimal || !Number.isFinite(number))) {
      this.runtime.fail(`TypeError: %${kind} format: an integer is required, not float`)
    }
    const whole = typeof number === 'bigint' ? number : BigInt(Math.trunc(number))
    const absolute = whole < 0n ? -whole : whole
    this.runtime.allowBits(bitLength(absolute))
    const base = kind === 'o' ? 8 : decimal ? 10 : 16
    const digits = base === 10 ? integerText(this.runtime, absolute) : absolute.toString(base)
    const prefix = flags.includes('#') && base !== 10 ? (base === 8 ? '0o' : '0x') : ''
    const text = prefix + digits.padStart(precision ?? 0, '0')
    return sign(whole < 0n, flags) + (kind === 'X' ? text.toUpperCase() : text)
  }

  private float({ kind, precision, flags }: Spec, value: Value): string {
    const number = toFloat(this.runtime, this.number(kind, value))
    this.runtime.spend((precision ?? 6) >> 2)
    const text = floatDigits(Math.abs(number), kind, precision ?? 6, flags.includes('#'))
    return sign(number < 0 || Object.is(number, -0), flags) + text
  }
}

/** The digits of a non-negative float in one of the styles `e`, `f` and `g`. */
export function floatDigits(
  value: number,
  kind: string,
  precision: number,
  keepZeros: boolean,
): string {
  const style = kind.toLowerCase()
  const text = !Number.isFinite(value)
    ? nonFinite(value)
    : style === 'f'
      ? toFixed(value, precision)
      : style === 'e'
        ? toExponent(value, Math.min(precision, 100))
        : toGeneral(value, Math.min(precision, 100), keepZeros)
  return kind === style ? text : text.toUpperCase()
}

function sign(negative: boolean, flags: string): string {
  if (negative) return '-'
  if (flags.includes('+')) return '+'
  return flags.includes(' ') ? ' ' : ''
}

function pad(text: string, { flags, width }: Spec): string {
  const gap = ' '.repeat(Math.max(0, Math.abs(width) - textLength(text)))
  return flags.includes('-') || width < 0 ? text + gap : gap + text
}

/** Zeros go between the sign and the digits. */
function padNumber(text: string, spec: Spec): string {
  const zeros = spec.flags.includes('0') && !spec.flags.includes('-') && spec.width > text.length
  if (!zeros) return pad(text, spec)
  const head = /^[-+ ]?(?:0[xXoO])?/.exec(text)?.[0] ?? ''
  return head + text.slice(head.length).padStart(spec.width - head.length, '0')
}
