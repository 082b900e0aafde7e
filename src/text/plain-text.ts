import { invisible } from './safe-text.ts'

/**
 * Words of a stranger on a call, made safe to read: control characters, bidirectional overrides, invisible
 * and unassigned characters, which can hide or forge what a person or a model reads, are removed,
 * and line breaks become spaces, so that one turn stays one line.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(/[\r\n\t\u0085\u2028\u2029]+/g, ' ')
    .replaceAll(invisible, '')
    .trim()
}

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
