import { mapStringsOfObject } from './map-strings.ts'
import { invisible } from './safe-text.ts'

/**
 * Speech of a caller, made safe to read: control characters, bidirectional overrides,
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
