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

/** A text as one line of prose. Doing it twice changes nothing. */
export const safeLine = (text: string): string =>
  isPlain(text) ? text : text.replace(hidden, escaped)

/** Our own lines, with text from outside in them, as one text: text from outside begins no line. */
export const safeLines = (lines: readonly string[]): string => lines.map(safeLine).join('\n')

/**
 * The same for JSON text, whose meaning stays the same. Joiners and variation selectors are kept:
 * Persian, Hindi and emoji need them, and within JSON they are harmless.
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
 * Tag for several lines of our own text: a value put into it becomes part of its line, an array
 * becomes lines.
 */
export const safeText = (
  ours: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): SafeText =>
  ours.reduce((text, part, at) => `${text}${safeValue(values[at - 1] ?? '')}${part}`) as SafeText

const safeValue = (value: string | number | readonly string[]) =>
  typeof value === 'object' ? safeLines(value) : safeLine(String(value))
