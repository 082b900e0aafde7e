/**
 * Text of a stranger, made safe to show: control characters, bidirectional overrides, invisible
 * and unassigned characters, which can hide or forge what a person or a model reads, are removed,
 * and line breaks become spaces, so that one turn stays one line.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(/[\r\n\t\u0085\u2028\u2029]+/g, ' ')
    .replaceAll(invisible, '')
    .trim()
}

/**
 * Control, format (zero width, bidirectional, tag characters), surrogates that stand alone,
 * private use and unassigned; then what has no glyph though Unicode counts it as letter or mark:
 * the grapheme joiner, Hangul and Khmer fillers, variation selectors, the blank Braille pattern.
 */
export const invisible =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is meant by itself.
  /[\p{C}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu

/** The same for all texts within a value, names of fields too. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value)
  if (Array.isArray(value)) return value.map(plainValue)
  if (typeof value !== 'object' || value === null) return value
  return plainFields({ ...value })
}

export const plainFields = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [plainText(name), plainValue(field)]),
  )
