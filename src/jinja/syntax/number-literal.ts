import { TemplateError } from '../error.ts'
import { isDigit, isWord } from './text.ts'
import type { Token } from './token.ts'

/** CPython refuses to convert longer decimal strings to integers (`sys.set_int_max_str_digits`). */
const MAX_DECIMAL_DIGITS = 4300

/** The end of a run of digits that single underscores may separate, or `from` if there is none. */
function digitsEnd(text: string, from: number): number {
  let at = from
  for (;;) {
    const start = at
    while (isDigit(text.charCodeAt(at))) at++
    if (at === start) return start === from ? from : start - 1
    if (text[at] !== '_') return at
    at++
  }
}

/** A fraction, an exponent or both must follow the digits; just after a dot it is no float. */
function floatEnd(text: string, from: number): number {
  const whole = digitsEnd(text, from)
  if (whole === from || text[from - 1] === '.') return from
  const dot = text[whole] === '.' ? digitsEnd(text, whole + 1) : whole
  const fraction = dot > whole + 1 ? dot : whole
  const exponent = exponentEnd(text, fraction)
  return exponent > whole ? exponent : from
}

function exponentEnd(text: string, from: number): number {
  if (text[from] !== 'e' && text[from] !== 'E') return from
  const sign = text[from + 1] === '+' || text[from + 1] === '-' ? from + 2 : from + 1
  const end = digitsEnd(text, sign)
  return end > sign ? end : from
}

const prefixed = /0(?:[bB](?:_?[01])+|[oO](?:_?[0-7])+|[xX](?:_?[0-9a-fA-F])+)/y

function integerEnd(text: string, from: number): number {
  if (text[from] !== '0') return digitsEnd(text, from)
  prefixed.lastIndex = from
  if (prefixed.test(text)) return prefixed.lastIndex
  // A decimal zero may only be repeated: `012` is `0` and then `12`.
  let at = from + 1
  while (text[at] === '0' || (text[at] === '_' && text[at + 1] === '0')) at++
  return at
}

/** Single digits are most of the numbers in templates. */
const digitValues: readonly bigint[] = Array.from({ length: 10 }, (_, digit) => BigInt(digit))

/** Reads the number at `from`, which holds a digit, into `token`; returns where it ends. */
export function readNumber(text: string, from: number, token: Token): number {
  const after = text.charCodeAt(from + 1)
  if (!isWord(after) && after !== 46) {
    token.type = 'integer'
    token.number = digitValues[text.charCodeAt(from) - 48] ?? 0n
    return from + 1
  }
  const end = floatEnd(text, from)
  if (end > from) {
    token.type = 'float'
    token.number = Number(withoutUnderscores(text.slice(from, end)))
    return end
  }
  const stop = integerEnd(text, from)
  token.type = 'integer'
  token.number = parseInteger(withoutUnderscores(text.slice(from, stop)), token.line)
  return stop
}

function withoutUnderscores(digits: string): string {
  return digits.includes('_') ? digits.replaceAll('_', '') : digits
}

function parseInteger(digits: string, line: number): bigint {
  if (digits.length > MAX_DECIMAL_DIGITS && !/^0[box]/i.test(digits)) {
    const limit = `Exceeds the limit (${MAX_DECIMAL_DIGITS} digits) for integer string conversion`
    throw new TemplateError('syntax_error', limit, line)
  }
  return BigInt(digits)
}
