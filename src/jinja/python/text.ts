import { isSpace, skipSpace } from '../syntax/text.ts'

/**
 * Strings by code points. Python counts characters, JavaScript UTF-16 units; they only differ
 * where there are surrogates, so plain strings take the fast way.
 */

const surrogate = /[\ud800-\udfff]/

/** `len(text)`. */
export function textLength(text: string): number {
  if (!surrogate.test(text)) return text.length
  let length = 0
  for (const _ of text) length++
  return length
}

/** Something whose elements are the characters, without copying a string that needs no care. */
export function characters(text: string): string | readonly string[] {
  return surrogate.test(text) ? [...text] : text
}

/** Characters `start` to `end`; both count from 0 and are in range. */
export function sliceText(text: string, start: number, end: number): string {
  const chars = characters(text)
  return typeof chars === 'string' ? chars.slice(start, end) : chars.slice(start, end).join('')
}

/** Python orders strings by code point. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!surrogate.test(a) && !surrogate.test(b)) return a < b ? -1 : 1
  const left = [...a]
  const right = [...b]
  const at = left.findIndex((char, index) => char !== right[index])
  if (at < 0 || at >= right.length) return left.length - right.length
  return (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0)
}

/** How often `part` occurs in `text`, without overlaps. */
export function countText(text: string, part: string): number {
  if (part === '') return textLength(text) + 1
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
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
