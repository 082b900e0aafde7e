import { isSpace, skipSpace } from '../syntax/text.ts'

/**
 * Strings by code points. Python counts characters, JavaScript UTF-16 units; they only differ
 * where there are surrogates, so plain strings take the fast way.
 */

const surrogate = /[\ud800-\udfff]/

/** `len(text)`. */
export function textLength(text: string): number {
  return surrogate.test(text) ? countCharacters(text, text.length) : text.length
}

/** How many characters there are before a unit. */
function countCharacters(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at = nextCharacter(text, at)) count++
  return count
}

/** Where the character behind the one at this unit begins; half a pair counts as one. */
function nextCharacter(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? at + 2 : at + 1
}

/** The unit at which a character begins; the end if there are fewer. */
function unitOf(text: string, index: number): number {
  let at = 0
  for (let left = index; left > 0 && at < text.length; left--) at = nextCharacter(text, at)
  return at
}

/** Something whose elements are the characters, without copying a string that needs no care. */
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
  // Of two characters that differ in their second half only, the whole counts.
  const isSecondHalf = (text: string) => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff
  const start = isSecondHalf(a) || isSecondHalf(b) ? at - 1 : at
  return (a.codePointAt(start) ?? 0) - (b.codePointAt(start) ?? 0)
}

/** How often `part` occurs in `text`, without overlaps. */
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
 * Searching text for text in a time that is proportional to both. V8's own search may compare a
 * long pattern anew at nearly every position, and its search from the right does so with short
 * ones too: a template of 98 characters kept it busy for a minute.
 */

/** Up to this length V8's search is linear: its tables cover the whole pattern. */
const shortPattern = 32

/** Where `part` first occurs at or after `from`, or -1. */
export function findFirst(text: string, part: string, from = 0): number {
  if (part.length <= shortPattern || part.length > text.length - from) {
    return text.indexOf(part, from)
  }
  return new Search(part, from).next(text, false)
}

/** Where `part` last occurs, or -1. */
export function findLast(text: string, part: string): number {
  if (part.length <= 1 || part.length > text.length) return text.lastIndexOf(part)
  let last = -1
  for (const at of eachPosition(text, part, true)) last = at
  return last
}

/** Where `part`, which is not empty, occurs in `text`, without overlaps. */
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

/** The search of Knuth, Morris and Pratt: it never goes back in the text. */
class Search {
  private readonly part: string
  /** How much of the pattern's beginning is also the end of its first n characters. */
  private readonly borders: Int32Array
  /** How much of the pattern stands right before `at`. */
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

  /** The longest beginning of the pattern that ends with this character. */
  private extend(code: number, matched: number): number {
    let length = matched
    while (length > 0 && (length === this.part.length || this.part.charCodeAt(length) !== code)) {
      length = this.borders[length] ?? 0
    }
    return this.part.charCodeAt(length) === code ? length + 1 : 0
  }

  /**
   * The next place; after one was found, the next that overlaps it, or where it must not, the next
   * behind it.
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
