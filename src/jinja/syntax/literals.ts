import { TemplateError } from '../error.ts'
import { isDigit, isWord } from './text.ts'
import type { Token } from './token.ts'

/** CPython refuses to convert longer decimal strings to integers (`sys.set_int_max_str_digits`). */
const MAX_DECIMAL_DIGITS = 4300

/** End of a run of digits, which single underscores may separate; `from` if there is none. */
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

/**
 * End of a float's fraction and exponent, of which at least one must follow the digits. Digits
 * after a dot are never a float.
 */
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
  // A decimal number may begin with zeros only if all digits are: `012` is `0` and then `12`.
  let at = from + 1
  while (text[at] === '0' || (text[at] === '_' && text[at + 1] === '0')) at++
  return at
}

/** Cached, because most numbers in templates have one digit. */
const digitValues: readonly bigint[] = Array.from({ length: 10 }, (_, digit) => BigInt(digit))

/** Reads the number that begins at `from` into `token`; returns its end. */
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
 * `backslashreplace` and decodes the result as `unicode-escape`. So an unknown escape keeps its
 * backslash, and a non-ASCII character after a backslash becomes its escape sequence. `\N{…}` is
 * accepted if closed but not resolved, because that needs the table of Unicode names.
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

/**
 * The character of an escape, and the end of the escape. The lexer never leaves a lone `\` at the
 * end.
 */
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
