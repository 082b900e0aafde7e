import { TemplateError } from '../error.ts'

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
