/*
 * Makes outside text safe within this program's texts: names and notes, messages of the platform,
 * speech on calls, input of clients, messages of errors. Characters that could start a line,
 * control a terminal, reverse a line or hide text are escaped, so that they are visible and have no
 * effect; `plainText` removes them. Texts of clients are shortened, too. Values in
 * structuredContent stay unchanged, because they may be written back.
 */

/**
 * Characters without a glyph: control, format (zero width, bidirectional, tag characters), lone
 * surrogates, private use, unassigned. Also some characters that Unicode counts as letters or
 * marks: the grapheme joiner, Hangul and Khmer fillers, variation selectors, the blank Braille
 * pattern.
 */
export const invisible =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character stands for itself.
  /[\p{C}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu

const hidden = new RegExp(`${invisible.source}|[\\p{Zl}\\p{Zp}]`, 'gu')

/** True for printable ASCII, which needs no further work. Most texts are. */
const isPlain = (text: string) => !/[^ -~]/.test(text)

/** Escapes a text and puts it on one line. An escaped text stays unchanged. */
export const safeLine = (text: string): string =>
  isPlain(text) ? text : text.replace(hidden, escaped)

/** Joins lines to one text. Outside text in a line cannot start a new line. */
export const safeLines = (lines: readonly string[]): string => lines.map(safeLine).join('\n')

/**
 * JSON text on one line, escaped so that its value stays the same. Keeps joiners and selectors as
 * Persian, Hindi and emoji use them.
 */
export const safeJson = (json: string): string =>
  isPlain(json)
    ? json
    : json.replace(hiddenInJson, (found, joiner?: string) => joiner ?? escaped(found))

/** A value as JSON on several lines. Escapes characters that could control a terminal. */
export const safeJsonLines = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(safeJson).join('\n')

/**
 * A joiner or emoji selector after a character that is not ASCII, or a joiner after U+FE0F. Longer
 * runs, and joiners within ASCII text, have no effect, but could hide a message.
 */
const joiner =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character stands for itself.
  /(?<=[^\p{ASCII}\u200c\u200d\ufe00-\ufe0f])[\u200c\u200d\ufe0e\ufe0f]|(?<=[^\p{ASCII}\u200c\u200d\ufe00-\ufe0f]\ufe0f)\u200d/u

const hiddenInJson = new RegExp(`(${joiner.source})|${hidden.source}`, 'gu')

const shortEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** A text as escapes of its UTF-16 units, as JSON writes them. */
export const escaped = (text: string): string =>
  shortEscapes.get(text) ??
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

declare const safe: unique symbol

/** Text of several lines in which outside text never starts a line. Only `safeText` creates it. */
export type SafeText = string & { readonly [safe]: true }

/**
 * Template tag for this program's texts of several lines. A value cannot start a new line. Each
 * item of an array becomes a line.
 */
export const safeText = (
  ours: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): SafeText =>
  ours.reduce((text, part, at) => `${text}${safeValue(values[at - 1] ?? '')}${part}`) as SafeText

const safeValue = (value: string | number | readonly string[]) =>
  typeof value === 'object' ? safeLines(value) : safeLine(String(value))

/**
 * Makes outside text, such as speech on a call, safe to read. Removes control characters,
 * bidirectional overrides, and invisible and unassigned characters, which can hide or forge text.
 * Line breaks become spaces, so that one turn stays on one line.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(/[\r\n\t\u0085\u2028\u2029]+/g, ' ')
    .replaceAll(invisible, '')
    .trim()
}

/** Applies `plainText` to all strings in the fields, and to the field names. */
export const plainFields = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  mapStringsOfObject(fields, plainText)

/** Returns the value with every string changed, including property names. */
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

/** Maximum length of a client's text within a message, characters. */
const longestPart = 200

/** Maximum length of an error message and of a log line, characters. */
const longestMessage = 1000

/**
 * Text that a client chose, for a log line or an error. Escapes control and invisible characters,
 * and cuts a long text, with a note of its length. Applying it twice changes nothing. `start`
 * returns the first characters of a text. If the text may contain the API key, pass `redact.start`,
 * which also removes the key.
 */
export function clientText(text: string, longest = longestPart, start = firstCharacters): string {
  // A text may have millions of characters, so only the shown part is escaped.
  const shown = safeLine(start(text, longest))
  if (text.length <= longest && shown.length <= longest) return shown
  const note = `… (${text.length} characters)`
  return `${firstCharacters(shown, longest - note.length)}${note}`
}

/** Like `clientText`, for a whole message that may contain a client's text. */
export const messageText = (text: string): string => clientText(text, longestMessage)

/** The message of any thrown value. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/**
 * Identifies an error without its message. A message may contain a client's text, as the messages
 * of `JSON.parse` and of the MCP SDK do.
 */
export function errorKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const code = 'code' in error ? String(error.code) : ''
  return /^[\w-]{1,40}$/.test(code) ? `${error.name} ${code}` : error.name
}

/** Like `errorKind`, for a bug in this program: adds the stack, for the report. */
export function defectText(error: unknown): string {
  const { stack = '', message = '' } = error instanceof Error ? error : {}
  const frames = stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
  return [`A defect: ${errorKind(error)}`, ...frames].join('\n')
}

/** The first characters of a text. Never cuts a surrogate pair in half. */
export const firstCharacters = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '')
