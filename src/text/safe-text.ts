/*
 * Text of others where our own words stand: names and notes, messages of the platform, what callers
 * said, what a client sent. What could forge a line, steer a terminal, turn the order of a line
 * around or hide is written as an escape, so that it can be seen and does nothing. Values in
 * structuredContent stay as they are: what is read there can be written back.
 */

/**
 * What has no glyph: control, format (zero width, bidirectional, tag characters), surrogates that
 * stand alone, private use and unassigned; then what Unicode counts as letter or mark all the same:
 * the grapheme joiner, Hangul and Khmer fillers, variation selectors, the blank Braille pattern.
 */
export const invisible =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is meant by itself.
  /[\p{C}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu

const hidden = new RegExp(`${invisible.source}|[\\p{Zl}\\p{Zp}]`, 'gu')

/** Most texts are nothing else, and that is seen at once. */
const isPlain = (text: string) => !/[^ -~]/.test(text)

/** A text as one line of prose. Doing it twice changes nothing. */
export const safeLine = (text: string): string =>
  isPlain(text) ? text : text.replace(hidden, escaped)

/** Lines that we wrote, with texts of others in them, as one text: no text of others begins a line. */
export const safeLines = (lines: readonly string[]): string => lines.map(safeLine).join('\n')

/**
 * The same for a text of JSON, which says the same afterwards. Joiners and variation selectors stay:
 * Persian, Hindi and emoji are written with them, and within JSON they pretend nothing.
 */
export const safeJson = (json: string): string =>
  isPlain(json)
    ? json
    : json.replace(hidden, (found) => (joins.test(found) ? found : escaped(found)))

// biome-ignore lint/suspicious/noMisleadingCharacterClass: each is meant by itself.
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

/** Text of several lines, in which texts of others stand within a line. Made by `words` alone. */
export type Words = string & { readonly [safe]: true }

/**
 * Several lines of our own, used as a tag: what is put into them becomes part of its line; an array
 * becomes lines.
 */
export const words = (
  ours: TemplateStringsArray,
  ...others: readonly (string | number | readonly string[])[]
): Words =>
  ours.reduce((text, part, at) => `${text}${within(others[at - 1] ?? '')}${part}`) as Words

const within = (given: string | number | readonly string[]) =>
  typeof given === 'object' ? safeLines(given) : safeLine(String(given))
