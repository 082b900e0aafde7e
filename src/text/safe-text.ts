/*
 * Text from outside within our own text: names and notes, messages of the platform, what callers said,
 * what a client sent. Characters that could forge a line, control a terminal, reverse a line or hide
 * are written as escapes, so that they are visible and have no effect. Values in structuredContent
 * stay as they are, because they may be written back.
 */

/**
 * Characters without a glyph: control, format (zero width, bidirectional, tag characters), lone
 * surrogates, private use, unassigned; and some that Unicode counts as letters or marks: the grapheme
 * joiner, Hangul and Khmer fillers, variation selectors, the blank Braille pattern.
 */
export const invisible =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character stands for itself.
  /[\p{C}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu

const hidden = new RegExp(`${invisible.source}|[\\p{Zl}\\p{Zp}]`, 'gu')

/** Most texts are plain ASCII, which needs no further work. */
const isPlain = (text: string) => !/[^ -~]/.test(text)

/** A text as one line of prose, escaped. A text that is escaped already stays unchanged. */
export const safeLine = (text: string): string =>
  isPlain(text) ? text : text.replace(hidden, escaped)

/** Our own lines, with text from outside in them, as one text: text from outside begins no line. */
export const safeLines = (lines: readonly string[]): string => lines.map(safeLine).join('\n')

/**
 * JSON text as one line, escaped so that its meaning stays the same. Joiners and variation
 * selectors are kept: Persian, Hindi and emoji need them, and within JSON they are harmless.
 */
export const safeJson = (json: string): string =>
  isPlain(json)
    ? json
    : json.replace(hidden, (found) => (joins.test(found) ? found : escaped(found)))

/** A value as JSON on several lines; characters that could control a terminal are written as escapes. */
export const safeJsonLines = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(safeJson).join('\n')

// biome-ignore lint/suspicious/noMisleadingCharacterClass: each character stands for itself.
const joins = /^[\u200c\u200d\ufe00-\ufe0f]$/u

const shortEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** As JSON writes it, by UTF-16 units. */
export const escaped = (text: string): string =>
  shortEscapes.get(text) ??
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

declare const safe: unique symbol

/** Text of several lines, in which text from outside stands within a line. Only `safeText` makes it. */
export type SafeText = string & { readonly [safe]: true }

/**
 * Template tag for our own texts of several lines: a value cannot begin a new line; each item of an
 * array is a line.
 */
export const safeText = (
  ours: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): SafeText =>
  ours.reduce((text, part, at) => `${text}${safeValue(values[at - 1] ?? '')}${part}`) as SafeText

const safeValue = (value: string | number | readonly string[]) =>
  typeof value === 'object' ? safeLines(value) : safeLine(String(value))

/**
 * Text from outside, such as speech of a caller, made safe to read: control characters, bidirectional overrides,
 * invisible and unassigned characters, which can hide or forge text, are removed, and line breaks
 * become spaces, so that one turn stays one line.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(/[\r\n\t\u0085\u2028\u2029]+/g, ' ')
    .replaceAll(invisible, '')
    .trim()
}

/** The same for all strings within, and for names of fields. */
export const plainFields = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  mapStringsOfObject(fields, plainText)

/** The same value with each of its strings changed, names of properties too. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  return typeof value === 'object' && value !== null
    ? mapStringsOfObject({ ...value }, change)
    : value
}

export const mapStringsOfObject = (
  object: Readonly<Record<string, unknown>>,
  change: (text: string) => string,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([name, field]) => [change(name), mapStrings(field, change)]),
  )

/** Longest text of a client within one of our own sentences, in characters. */
const longestPart = 200

/** Longest message of an error, and longest line of the log, in characters. */
const longestMessage = 1000

/**
 * Text that a client chose, for a log line or an error: control and invisible characters are
 * escaped, and a long text is cut, with a note of its length. Doing it twice changes nothing.
 * `start` gives the first characters of a text, without the key where it may hold that.
 */
export function clientText(text: string, longest = longestPart, start = firstCharacters): string {
  // Only the part that can be shown is escaped: a text may have millions of characters.
  const shown = safeLine(start(text, longest))
  if (text.length <= longest && shown.length <= longest) return shown
  const note = `… (${text.length} characters)`
  return `${firstCharacters(shown, longest - note.length)}${note}`
}

/** The same for a whole message, in which a client's text may stand. */
export const messageText = (text: string): string => clientText(text, longestMessage)

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/**
 * What an error is, without its message: that may hold a text of a client, as the messages of
 * `JSON.parse` and of the SDK do.
 */
export function errorKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const code = 'code' in error ? String(error.code) : ''
  return /^[\w-]{1,40}$/.test(code) ? `${error.name} ${code}` : error.name
}

/** The same for a defect of this program, with the stack for the report. */
export function defectText(error: unknown): string {
  const { stack = '', message = '' } = error instanceof Error ? error : {}
  const frames = stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
  return [`A defect: ${errorKind(error)}`, ...frames].join('\n')
}

/** The first characters of a text; no character is cut in half (surrogate pairs). */
export const firstCharacters = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '')
