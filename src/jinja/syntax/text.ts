/** Characters and strings by Python's rules, which differ from JavaScript's in details. */

/** Python's `str.isspace` for one UTF-16 unit; unlike JavaScript's `\s` it has no U+FEFF. */
export function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13) || (code >= 28 && code <= 31)
  if (code < 0x1680) return code === 0x85 || code === 0xa0
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  )
}

/** The first position at or after `from` without whitespace. */
export function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

/** `str.rstrip()` without arguments. */
export function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

/** `str.lstrip()` without arguments. */
export function trimStart(text: string): string {
  return text.slice(skipSpace(text, 0))
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** True for an ASCII letter, digit or underscore. */
export function isWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || isDigit(code)
}

/** `str.isidentifier()`. */
export function isIdentifier(name: string): boolean {
  return /^[_\p{XID_Start}]\p{XID_Continue}*$/u.test(name)
}

const escapes: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
}

function escapeChar(char: string): string {
  const known = escapes[char]
  if (known !== undefined) return known
  const code = char.codePointAt(0) ?? 0
  if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`
  if (code > 0xff) return `\\u${code.toString(16).padStart(4, '0')}`
  return `\\x${code.toString(16).padStart(2, '0')}`
}

/** `repr()` of a string: single quotes unless only double quotes avoid escaping. */
export function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  // What str.isprintable() refuses: control, format, surrogate, private and unassigned characters,
  // and every separator but the space.
  const body = text.replace(/[\\\p{C}]|(?! )\p{Z}/gu, escapeChar)
  return mark + (mark === "'" ? body.replaceAll("'", "\\'") : body) + mark
}
