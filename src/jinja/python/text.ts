import { isSpace, skipSpace } from '../syntax/text.ts'

/**
 * Strings by code points. Python counts characters, JavaScript UTF-16 units; they differ only in
 * strings with surrogates, so all other strings take a fast path.
 */

const surrogate = /[\ud800-\udfff]/

/** `len(text)`. */
export function textLength(text: string): number {
  return surrogate.test(text) ? countCharacters(text, text.length) : text.length
}

/** Number of characters before a UTF-16 unit. */
function countCharacters(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at = nextCharacter(text, at)) count++
  return count
}

/** Start of the next character after the one at this unit; a lone surrogate counts as one. */
function nextCharacter(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? at + 2 : at + 1
}

/** UTF-16 unit at which a character begins; the end if there are fewer characters. */
function unitOf(text: string, index: number): number {
  let at = 0
  for (let left = index; left > 0 && at < text.length; left--) at = nextCharacter(text, at)
  return at
}

/** Characters of a string by index. A string without surrogates is returned as it is. */
export function characters(text: string): string | readonly string[] {
  return surrogate.test(text) ? [...text] : text
}

/** Characters `start` to `end`; both count from 0 and are in range. */
export function sliceText(text: string, start: number, end: number): string {
  if (!surrogate.test(text)) return text.slice(start, end)
  const from = unitOf(text, start)
  const rest = text.slice(from)
  return end >= text.length ? rest : rest.slice(0, unitOf(rest, Math.max(end - start, 0)))
}

/** Python orders strings by code point. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!surrogate.test(a) && !surrogate.test(b)) return a < b ? -1 : 1
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at >= a.length || at >= b.length) return a.length - b.length
  // For characters that differ only in their second surrogate, the whole code points are compared.
  const isSecondHalf = (text: string) => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff
  const start = isSecondHalf(a) || isSecondHalf(b) ? at - 1 : at
  return (a.codePointAt(start) ?? 0) - (b.codePointAt(start) ?? 0)
}

/** Number of non-overlapping occurrences of `part`. */
export function countText(text: string, part: string): number {
  if (part === '') return textLength(text) + 1
  let count = 0
  for (const _ of positionsOf(text, part)) count++
  return count
}

/** `str.split()` without a separator: the words between runs of whitespace. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let start = skipSpace(text, 0)
  while (start < text.length) {
    let end = start + 1
    while (end < text.length && !isSpace(text.charCodeAt(end))) end++
    words.push(text.slice(start, end))
    start = skipSpace(text, end)
  }
  return words
}

const lineEnds: ReadonlySet<string> = new Set([
  '\n',
  '\r',
  '\v',
  '\f',
  '\x1c',
  '\x1d',
  '\x1e',
  '\x85',
  '\u2028',
  '\u2029',
])

/** `str.splitlines()`. */
export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (!lineEnds.has(text.charAt(at))) continue
    const end = text.startsWith('\r\n', at) ? at + 2 : at + 1
    lines.push(text.slice(start, keepEnds ? end : at))
    start = end
    at = end - 1
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

/**
 * Text search in linear time. V8's own search may restart a long pattern at nearly every position,
 * and searching from the right even a short one: a template of 98 characters took a minute.
 */

/** Up to this length V8's search is linear: its tables cover the whole pattern. */
const shortPattern = 32

/** Index of the first occurrence of `part` at or after `from`, or -1. */
export function findFirst(text: string, part: string, from = 0): number {
  if (part.length <= shortPattern || part.length > text.length - from) {
    return text.indexOf(part, from)
  }
  return new Search(part, from).next(text, false)
}

/** Index of the last occurrence of `part`, or -1. */
export function findLast(text: string, part: string): number {
  if (part.length <= 1 || part.length > text.length) return text.lastIndexOf(part)
  let last = -1
  for (const at of eachPosition(text, part, true)) last = at
  return last
}

/** Indexes of the non-overlapping occurrences of `part`, which must not be empty. */
export function positionsOf(text: string, part: string): Generator<number> {
  return eachPosition(text, part, false)
}

function* eachPosition(text: string, part: string, overlapping: boolean): Generator<number> {
  if (part.length > text.length) return
  if (part.length <= shortPattern) {
    const step = overlapping ? 1 : part.length
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + step)) yield at
    return
  }
  const search = new Search(part)
  let at = search.next(text, overlapping)
  while (at >= 0) {
    yield at
    at = search.next(text, overlapping)
  }
}

/** Knuth–Morris–Pratt search, which never goes back in the text. */
class Search {
  private readonly part: string
  /**
   * For each n, the length of the longest proper prefix of the pattern that is also a suffix of its
   * first n characters.
   */
  private readonly borders: Int32Array
  /** Length of the pattern's prefix that ends right before `at`. */
  private matched = 0
  private at: number

  constructor(part: string, from = 0) {
    this.part = part
    this.at = from
    this.borders = new Int32Array(part.length + 1)
    for (let end = 1, length = 0; end < part.length; end++) {
      length = this.extend(part.charCodeAt(end), length)
      this.borders[end + 1] = length
    }
  }

  /** Length of the longest prefix of the pattern that ends with this character. */
  private extend(code: number, matched: number): number {
    let length = matched
    while (length > 0 && (length === this.part.length || this.part.charCodeAt(length) !== code)) {
      length = this.borders[length] ?? 0
    }
    return this.part.charCodeAt(length) === code ? length + 1 : 0
  }

  /**
   * Index of the next occurrence, which may overlap the previous one if `overlapping`; -1 if there
   * is none.
   */
  next(text: string, overlapping: boolean): number {
    const { part } = this
    if (this.matched === part.length && !overlapping) this.matched = 0
    while (this.at < text.length) {
      this.matched = this.extend(text.charCodeAt(this.at), this.matched)
      this.at++
      if (this.matched === part.length) return this.at - this.matched
    }
    return -1
  }
}
