import { isSpace, trimEnd, trimStart } from '../syntax/text.ts'
import type { Runtime } from './runtime.ts'
import {
  characters,
  countText,
  findFirst,
  findLast,
  positionsOf,
  sliceText,
  splitWords,
  textLength,
} from './text.ts'

/**
 * Python's string methods and Jinja2's text filters, on plain text. Each checks the length of its
 * result before building it.
 */

/** `str.title()`: a letter is upper case unless a letter comes before it. */
export function titleCase(text: string): string {
  return text.replace(/\p{Cased}[\p{Cased}\p{Mn}]*/gu, (word) => {
    const first = String.fromCodePoint(word.codePointAt(0) ?? 0)
    const upper = first.toUpperCase()
    // `ß` becomes `Ss`: title case is upper case in the first letter only.
    const start = String.fromCodePoint(upper.codePointAt(0) ?? 0)
    const rest = upper.slice(start.length).toLowerCase()
    return start + rest + word.slice(first.length).toLowerCase()
  })
}

export function isTitle(text: string): boolean {
  return /\p{Cased}/u.test(text) && titleCase(text) === text
}

/** `str.strip(chars)`, on either side or both. */
export function stripText(text: string, chars: string, left: boolean, right: boolean): string {
  const set = new Set(chars)
  const all = characters(text)
  let start = 0
  let end = all.length
  while (left && start < end && set.has(all[start] ?? '')) start++
  while (right && end > start && set.has(all[end - 1] ?? '')) end--
  const kept = all.slice(start, end)
  return typeof kept === 'string' ? kept : kept.join('')
}

/** `str.ljust`, `str.rjust` and `str.center`; `side` is where the text goes. */
export function padText(
  runtime: Runtime,
  text: string,
  width: number,
  fill: string,
  side: 'left' | 'right' | 'center',
): string {
  if (textLength(fill) !== 1) {
    runtime.fail('TypeError: The fill character must be exactly one character long')
  }
  const length = textLength(text)
  const gap = Math.max(0, width - length)
  runtime.allowLength(gap * fill.length + text.length)
  // If both gap and width are odd, CPython puts the extra space on the left.
  const before = side === 'left' ? 0 : side === 'right' ? gap : (gap >> 1) + (gap & width & 1)
  return fill.repeat(before) + text + fill.repeat(gap - before)
}

/** `str.replace(old, replacement, count)`; a negative count replaces all. */
export function replaceText(
  runtime: Runtime,
  text: string,
  old: string,
  replacement: string,
  count: number,
): string {
  const occurrences = countText(text, old)
  const times = count < 0 ? occurrences : Math.min(count, occurrences)
  runtime.spend(times)
  runtime.allowLength(text.length + times * (replacement.length - old.length))
  if (old === '') return spaceOut(text, replacement, times)
  return cutAt(text, old, times).join(replacement)
}

/** Splits at the first `times` occurrences of a separator; the last piece is the rest. */
function cutAt(text: string, separator: string, times: number): string[] {
  const parts: string[] = []
  let start = 0
  for (const at of times > 0 ? positionsOf(text, separator) : []) {
    parts.push(text.slice(start, at))
    start = at + separator.length
    if (parts.length === times) break
  }
  parts.push(text.slice(start))
  return parts
}

/** Inserts the replacement before every character and at the end, at most `times` times. */
function spaceOut(text: string, replacement: string, times: number): string {
  const chars = [...text]
  const head = chars.slice(0, times).map((char) => replacement + char)
  const tail = times > chars.length ? replacement : chars.slice(times).join('')
  return head.join('') + tail
}

/** `str.split` and `str.rsplit`. */
export function splitText(
  runtime: Runtime,
  text: string,
  separator: string | null,
  maximum: number,
  fromRight: boolean,
): string[] {
  if (separator === '') runtime.fail('ValueError: empty separator')
  const parts =
    separator === null ? splitWords(text) : cutAt(text, separator, Number.POSITIVE_INFINITY)
  runtime.spend(parts.length)
  if (maximum < 0 || parts.length <= maximum + (separator === null ? 0 : 1)) return parts
  if (separator === null) return splitSomeWords(text, maximum, fromRight)
  if (fromRight) {
    const cut = parts.length - maximum
    return [parts.slice(0, cut).join(separator), ...parts.slice(cut)]
  }
  return [...parts.slice(0, maximum), parts.slice(maximum).join(separator)]
}

/** Splits off `maximum` words from one end; the rest stays unchanged. */
function splitSomeWords(text: string, maximum: number, fromRight: boolean): string[] {
  let rest = fromRight ? trimEnd(text) : trimStart(text)
  const words: string[] = []
  while (words.length < maximum && rest !== '') {
    const length = wordLength(rest, fromRight)
    const at = fromRight ? rest.length - length : length
    words.push(fromRight ? rest.slice(at) : rest.slice(0, at))
    rest = fromRight ? trimEnd(rest.slice(0, at)) : trimStart(rest.slice(at))
  }
  if (rest !== '') words.push(rest)
  return fromRight ? words.reverse() : words
}

/** Length of the first or last word. */
function wordLength(text: string, fromRight: boolean): number {
  let length = 0
  while (length < text.length) {
    const at = fromRight ? text.length - 1 - length : length
    if (isSpace(text.charCodeAt(at))) break
    length++
  }
  return length
}

export function joinTexts(runtime: Runtime, separator: string, texts: readonly string[]): string {
  let length = separator.length * Math.max(0, texts.length - 1)
  for (const text of texts) length += text.length
  runtime.allowLength(length)
  return texts.join(separator)
}

/** `str.find`, in characters; -1 if not found. */
export function findText(
  text: string,
  part: string,
  start: number | null,
  end: number | null,
  fromRight: boolean,
): number {
  const length = textLength(text)
  const from = clamp(start ?? 0, length)
  const within = sliceText(
    text,
    Math.min(from, length),
    Math.min(clamp(end ?? length, length), length),
  )
  const at = fromRight ? findLast(within, part) : findFirst(within, part)
  return at < 0 || from > length ? -1 : from + textLength(within.slice(0, at))
}

function clamp(index: number, length: number): number {
  return Math.max(0, index < 0 ? index + length : index)
}

export function expandTabs(runtime: Runtime, text: string, size: number): string {
  runtime.allowLength(text.length + countText(text, '\t') * Math.max(size, 0))
  let column = 0
  return text.replace(/[\t\n\r]|[^\t\n\r]+/g, (piece) => {
    if (piece === '\t') {
      const gap = size > 0 ? size - (column % size) : 0
      column += gap
      return ' '.repeat(gap)
    }
    column = piece === '\n' || piece === '\r' ? 0 : column + textLength(piece)
    return piece
  })
}
