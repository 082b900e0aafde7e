import { safeJson } from '../../text/safe-text.ts'

/** A value as JSON on several lines. Characters that act on a terminal are escapes, as JSON has them. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(safeJson).join('\n')
