import type { Environment } from '../config/setting-texts.ts'

/**
 * Columns of the terminal that text is printed on; `undefined`: it is none, and lines are not broken.
 * A program that shows the text to a person may tell its own columns.
 */
export function textWidth({ COLUMNS }: Environment): number | undefined {
  const told = Number(COLUMNS)
  // A terminal that does not know its size says 0.
  return process.stdout.columns || (Number.isInteger(told) && told > 0 ? told : undefined)
}
