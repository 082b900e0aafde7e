import { toDateTime } from '../python/date-time.ts'
import { tryLength } from '../python/iterate.ts'
import { asInteger, asText, type BoundArguments } from '../python/methods.ts'
import { binary } from '../python/operators.ts'
import { formatPercent } from '../python/printf.ts'
import type { ReadCost, Runtime } from '../python/runtime.ts'
import { capitalize } from '../python/string-methods.ts'
import { joinTexts, padText, replaceText, stripText } from '../python/string-operations.ts'
import { sliceText, splitLines, textLength } from '../python/text.ts'
import { escapeText, sameKind, toText } from '../python/to-text.ts'
import { Dict, isTrue, Markup, Tuple, textOf, Undefined, type Value } from '../python/values.ts'
import { trimEnd, trimStart } from '../syntax/text.ts'
import { type FilterBody, type FilterEntry, filter, softText } from './define.ts'

/** A filter that changes text and keeps markup markup. */
function reshape(
  name: string,
  parameters: string,
  run: (text: string, runtime: Runtime, args: BoundArguments) => string,
  cost?: ReadCost,
): FilterEntry {
  const change: FilterBody = (runtime, value, args) => {
    const soft = softText(runtime, value)
    const text = run(textOf(soft) ?? '', runtime, args)
    runtime.allowLength(text.length)
    return sameKind(soft, text)
  }
  return filter(name, parameters, change, cost)
}

/** Jinja2's own title case: a word begins at the start, or after space, `-`, or an open bracket. */
function title(text: string): string {
  return text.replace(/[^-({[<\s]+/gu, (word) => {
    const first = String.fromCodePoint(word.codePointAt(0) ?? 0)
    return first.toUpperCase() + word.slice(first.length).toLowerCase()
  })
}

function trim(text: string, runtime: Runtime, [chars = null]: BoundArguments): string {
  if (chars === null) return trimEnd(trimStart(text))
  return stripText(text, asText(runtime, chars), true, true)
}

function replace(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [old = null, replacement = null, count = null] = args
  const texts = [value, old, replacement].map((part) => toText(runtime, part))
  const [text = '', from = '', to = ''] = texts
  const times = count === null ? -1 : asInteger(runtime, count, -1)
  if (!runtime.autoescape) return replaceText(runtime, text, from, to, times)
  const escaped = (part: Value, plain: string): string =>
    part instanceof Markup ? plain : escapeText(plain)
  const marked = [value, old, replacement].some((part) => part instanceof Markup)
  if (!marked) return replaceText(runtime, text, from, to, times)
  const parts = [escaped(value, text), escaped(old, from), escaped(replacement, to)] as const
  return new Markup(replaceText(runtime, ...parts, times))
}

function indent(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [width, first = false, blank = false] = args
  const prefix = textOf(width ?? null) ?? spaces(runtime, asInteger(runtime, width, 4))
  const lines = splitLines(`${asText(runtime, value)}\n`)
  runtime.allowLength(lines.length * prefix.length)
  const indented = lines.map((line, index) => {
    if (index === 0) return isTrue(first) ? prefix + line : line
    return line === '' && !isTrue(blank) ? line : prefix + line
  })
  return sameKind(value, joinTexts(runtime, '\n', indented))
}

function spaces(runtime: Runtime, width: number): string {
  runtime.allowLength(width)
  return ' '.repeat(Math.max(width, 0))
}

function truncate(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [length, killWords = false, end = '...', leeway = null] = args
  const limit = asInteger(runtime, length, 255)
  const tail = asText(runtime, end)
  const slack = leeway === null ? 5 : asInteger(runtime, leeway, 5)
  const kept = limit - textLength(tail)
  if (kept < 0) {
    runtime.fail(`AssertionError: expected length >= ${textLength(tail)}, got ${limit}`)
  }
  if (slack < 0) runtime.fail(`AssertionError: expected leeway >= 0, got ${slack}`)
  if ((tryLength(value) ?? Number.POSITIVE_INFINITY) <= limit + slack) return value
  const text = sliceText(asText(runtime, value), 0, kept)
  const space = text.lastIndexOf(' ')
  const cut = isTrue(killWords) || space < 0 ? text : text.slice(0, space)
  return binary(runtime, 'add', sameKind(value, cut), end)
}

function wordWrap(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [width, breakLong = true, separator = null, breakHyphens = true] = args
  const columns = asInteger(runtime, width, 79)
  if (columns <= 0) runtime.fail(`ValueError: invalid width ${columns} (must be > 0)`)
  const newline = separator === null ? '\n' : asText(runtime, separator)
  const options = {
    width: columns,
    breakLong: isTrue(breakLong),
    breakHyphens: isTrue(breakHyphens),
  }
  const lines = splitLines(asText(runtime, value)).map((line) =>
    joinTexts(runtime, newline, wrapText(runtime, line, options)),
  )
  return joinTexts(runtime, newline, lines)
}

function format(
  runtime: Runtime,
  value: Value,
  args: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
): Value {
  if (args.length > 0 && keywords.size > 0) {
    runtime.fail("can't handle positional and keyword arguments at the same time")
  }
  const soft = softText(runtime, value)
  if (keywords.size === 0) return formatPercent(runtime, soft, new Tuple(args))
  const mapping = new Dict()
  for (const [name, item] of keywords) mapping.set(name, item)
  return formatPercent(runtime, soft, mapping)
}

function countWords(text: string): number {
  const word = /[\p{L}\p{N}_]+/gu
  let count = 0
  while (word.test(text)) count++
  return count
}

/** The platform's own filter: a date in a `strftime` format, in a time zone if one is given. */
function datetime(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [pattern = '%Y-%m-%d %H:%M', timezone = null] = args
  if (value === null || value instanceof Undefined || value === '') return ''
  const moment = toDateTime(runtime, value)
  const format = asText(runtime, pattern)
  if (timezone === null) return moment.format(runtime, format)
  const zone = asText(runtime, timezone)
  const local = moment.inZone(runtime, zone)
  return (local ?? runtime.fail(`ValueError: unknown time zone ${zone}`)).format(runtime, format)
}

export const textFilters: readonly FilterEntry[] = [
  reshape('upper', '', (text) => text.toUpperCase(), 'scan'),
  reshape('lower', '', (text) => text.toLowerCase(), 'scan'),
  reshape('capitalize', '', capitalize),
  reshape('trim', 'chars?', trim),
  reshape('center', 'width?', (text, runtime, [width]) =>
    padText(runtime, text, asInteger(runtime, width, 80), ' ', 'center'),
  ),
  filter('title', '', (runtime, value) => title(toText(runtime, value))),
  filter('replace', 'old new count?', replace),
  filter('indent', 'width? first? blank?', indent),
  filter('truncate', 'length? killwords? end? leeway?', truncate),
  filter('wordwrap', 'width? break_long_words? wrapstring? break_on_hyphens?', wordWrap),
  filter('wordcount', '', (runtime, value) => BigInt(countWords(toText(runtime, value)))),
  filter('string', '', softText, 'free'),
  filter('datetime', 'format? timezone?', datetime),
  [
    'format',
    (runtime, value, { positional, keywords }) => format(runtime, value, positional, keywords),
  ],
]

type WrapOptions = {
  readonly width: number
  readonly breakLong: boolean
  readonly breakHyphens: boolean
}

/** Steps for a word, a run of spaces or a new line. */
const stepsPerChunk = 5

const letter = /[\p{L}_]/u
const spaceRun = /^[\t\n\v\f\r ]/

/** Words and the runs of spaces between them; a hyphen between letters may end a chunk. */
function chunksOf(line: string, breakHyphens: boolean): string[] {
  const pieces = line.split(/([\t\n\v\f\r ]+)/).filter((piece) => piece !== '')
  return breakHyphens ? pieces.flatMap(splitHyphens) : pieces
}

function splitHyphens(word: string): string[] {
  const parts: string[] = []
  let start = 0
  for (let at = word.indexOf('-'); at >= 0; at = word.indexOf('-', at + 1)) {
    const before = word[at - 1] ?? ''
    const after = word.slice(at + 1, at + 3)
    const both = [...after].length === 2 && [...after].every((char) => letter.test(char))
    if (!letter.test(before) || !both) continue
    parts.push(word.slice(start, at + 1))
    start = at + 1
  }
  parts.push(word.slice(start))
  return parts
}

/** Breaks one line into lines of at most `width` characters, as Python's `textwrap` does. */
function wrapText(
  runtime: Runtime,
  line: string,
  { width, breakLong, breakHyphens }: WrapOptions,
): string[] {
  const chunks = chunksOf(line, breakHyphens).reverse()
  const lines: string[] = []
  runtime.spend(stepsPerChunk * chunks.length)
  while (chunks.length > 0) {
    const current: string[] = []
    let length = 0
    if (lines.length > 0 && isBlank(chunks.at(-1))) chunks.pop()
    for (let chunk = chunks.at(-1); chunk !== undefined; chunk = chunks.at(-1)) {
      if (length + textLength(chunk) > width) break
      current.push(chunk)
      length += textLength(chunk)
      chunks.pop()
    }
    const next = chunks.at(-1)
    // An overlong word is read again for each line that it fills.
    runtime.read(next ?? '')
    runtime.spend(stepsPerChunk)
    if (next !== undefined && textLength(next) > width) {
      breakWord(chunks, current, next, breakLong ? width - length : null, breakHyphens)
    }
    if (isBlank(current.at(-1))) current.pop()
    if (current.length > 0) lines.push(current.join(''))
  }
  return lines
}

/**
 * Appends the part of an overlong word that fits. The part may be empty; Python still counts it as
 * the line's last chunk, so spaces before it are kept.
 */
function breakWord(
  chunks: string[],
  current: string[],
  word: string,
  space: number | null,
  breakHyphens: boolean,
): void {
  if (space === null && current.length > 0) return
  chunks.pop()
  if (space === null) {
    current.push(word)
    return
  }
  const [head, tail] = splitAt(word, breakHyphens ? hyphenBefore(word, space) : space)
  current.push(head)
  if (tail !== '') chunks.push(tail)
}

/** Index after the last hyphen that fits, if other text precedes it. */
function hyphenBefore(word: string, space: number): number {
  const [start] = splitAt(word, space)
  const hyphen = start.lastIndexOf('-')
  if (hyphen <= 0 || /^-*$/.test(start.slice(0, hyphen))) return space
  return textLength(start.slice(0, hyphen + 1))
}

function splitAt(chunk: string, space: number): [string, string] {
  const head = sliceText(chunk, 0, space)
  return [head, chunk.slice(head.length)]
}

function isBlank(chunk: string | undefined): boolean {
  return chunk === '' || (chunk !== undefined && spaceRun.test(chunk))
}
