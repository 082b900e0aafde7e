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

const simple: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/**
 * Resolves the escapes of a string literal's body. Jinja2 encodes it to ASCII with
 * `backslashreplace` and decodes that as `unicode-escape`, so an unknown escape keeps its
 * backslash, and a backslash before a non-ASCII character leaves that character spelled out.
 * `\N{…}` is accepted when closed but not resolved: that would need the table of Unicode names.
 */
export function unescapeString(body: string, line: number): string {
  if (!body.includes('\\')) return body
  const out: string[] = []
  let at = 0
  for (;;) {
    const slash = body.indexOf('\\', at)
    out.push(body.slice(at, slash < 0 ? undefined : slash))
    if (slash < 0) return out.join('')
    const [text, end] = readEscape(body, slash, line)
    out.push(text)
    at = end
  }
}

/** The text an escape stands for, and where it ends. The lexer never leaves a lone last `\`. */
function readEscape(body: string, slash: number, line: number): [string, number] {
  const char = String.fromCodePoint(body.codePointAt(slash + 1) ?? 0)
  const after = slash + 1 + char.length
  const known = simple[char]
  if (known !== undefined) return [known, after]
  const digits = hexLengths[char]
  if (digits !== undefined) return [hexEscape(body, after, char, digits, line), after + digits]
  if (char >= '0' && char <= '7') {
    const octal = /^[0-7]{1,3}/.exec(body.slice(slash + 1, slash + 4))?.[0] ?? char
    return [String.fromCodePoint(Number.parseInt(octal, 8)), slash + 1 + octal.length]
  }
  if (char === 'N') return [namedEscape(body, slash, line), body.indexOf('}', after) + 1]
  if (char > '\x7f') return [`\\${backslashReplaced(char).slice(1)}`, after]
  return [`\\${char}`, after]
}

function hexEscape(body: string, at: number, kind: string, length: number, line: number): string {
  const digits = body.slice(at, at + length)
  if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) {
    const pattern = kind + 'X'.repeat(length)
    throw new TemplateError('syntax_error', `truncated \\${pattern} escape`, line)
  }
  const code = Number.parseInt(digits, 16)
  if (code > 0x10ffff) throw new TemplateError('syntax_error', 'illegal Unicode character', line)
  return String.fromCodePoint(code)
}

function namedEscape(body: string, slash: number, line: number): string {
  const end = body.indexOf('}', slash)
  if (body[slash + 2] !== '{' || end <= slash + 3) {
    throw new TemplateError('syntax_error', 'malformed \\N character escape', line)
  }
  return body.slice(slash, end + 1)
}

function backslashReplaced(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`
  if (code > 0xff) return `\\u${code.toString(16).padStart(4, '0')}`
  return `\\x${code.toString(16)}`
}
