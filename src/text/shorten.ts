import { firstCharacters } from './first-characters.ts'
import { estimateTokens, firstTokens, fitsTokens } from './tokens.ts'

/*
 * Shortening a text to a budget; what is left out is counted at the end of it. Results of tools are
 * shortened with these functions by views/shorten-value.ts and views/shorten-result.ts.
 */

const withRest = (start: string, text: string) =>
  start.length < text.length ? `${start}… (${text.length - start.length} more characters)` : text

/** A text of at most about so many tokens. */
export function shortenToTokens(text: string, budget: number): string {
  if (fitsTokens(text, budget)) return text
  return withRest(firstTokens(text, Math.max(4, budget - tokensOfRest)), text)
}

/** Tokens of the note that says how much was left out. */
const tokensOfRest = 8

/** A text of at most so many characters, not counting the note. */
export const shortenToCharacters = (text: string, most: number): string =>
  withRest(firstCharacters(text, most), text)

/** The first of the lines that fit the budget, at least one; `more` is how many are left out. */
export function firstLines(
  lines: readonly string[],
  budget: number,
): { readonly lines: readonly string[]; readonly more: number } {
  let left = budget
  const end = lines.findIndex((line) => {
    left -= estimateTokens(line) + 1
    return left < 0
  })
  const shown = end < 0 ? lines : lines.slice(0, Math.max(1, end))
  return { lines: shown, more: lines.length - shown.length }
}
