import type { RouteRequest } from '../contract/route.ts'
import { firstLines, shortenToTokens } from '../text/shorten.ts'
import { fitsTokens } from '../text/tokens.ts'
import { compactJson } from './compact-json.ts'
import { shortenValue } from './shorten-value.ts'
import type { StructuredContent } from './tool-output.ts'

/** Most tokens of one result, about: more would fill the context of the model that reads it. */
export const resultBudget = 6000

/** How a result with many items is shortened to its first items. */
export interface ItemShortening {
  /** How many items it holds. */
  readonly count: (result: Content) => number
  /** The same result with the first `kept` of its items, and how to get the rest. */
  readonly keep: (result: Content, kept: number, request: RouteRequest) => Content
}

type Content = Readonly<StructuredContent>

/** A result and its text, both within the budget. */
export interface ShortResult {
  readonly structured: StructuredContent
  readonly text: string
}

/**
 * Shortens a result that is too long. Where it has items, the last ones are left out of data and text;
 * otherwise only the text is shortened, and `structured` stays whole for programs.
 */
export function shortenResult(
  structured: StructuredContent,
  { shortening, request }: { shortening: ItemShortening | undefined; request: RouteRequest },
): ShortResult {
  const text = compactJson(structured)
  if (fitsTokens(text, resultBudget)) return { structured, text }
  const items = shortening?.count(structured) ?? 0
  if (!shortening || items === 0) {
    return { structured, text: shortenValue(structured, resultBudget, text) }
  }
  // At least one item: with none the caller would get no further.
  let [kept, tooMany] = [1, items + 1]
  while (tooMany - kept > 1) {
    const middle = (kept + tooMany) >> 1
    const part = shortening.keep(structured, middle, request)
    if (fitsTokens(compactJson(part), resultBudget)) kept = middle
    else tooMany = middle
  }
  const part = kept < items ? { ...shortening.keep(structured, kept, request) } : structured
  return { structured: part, text: shortenValue(part, resultBudget) }
}

/** Shortens the array of this name; `rest` says how to get the rest. */
export const shortenArray = (
  name: string,
  rest: (result: Content, kept: number, request: RouteRequest) => Content,
): ItemShortening => ({
  count: (result) => arrayOf(result[name]).length,
  keep: (result, kept, request) => ({
    ...result,
    [name]: arrayOf(result[name]).slice(0, kept),
    ...rest(result, kept, request),
  }),
})

const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Lines as a text of about so many tokens, from the first on; it says how many are left out. */
export function shortenLines(whole: readonly string[], budget: number): string {
  const text = whole.join('\n')
  if (fitsTokens(text, budget)) return text
  const short = whole.map((line) => shortenToTokens(line, budget / 3))
  const { lines, more } = firstLines(short, budget - tokensOfNote)
  return [
    ...lines,
    ...missingEndMarks(lines),
    `Shortened${more > 0 ? `: ${more} more lines` : ''}; structuredContent has all of it.`,
  ].join('\n')
}

/** What the note and an end mark cost, about. */
const tokensOfNote = 60

/** The end marks of untrusted text whose end was left out. */
function missingEndMarks(lines: readonly string[]): string[] {
  const marks = lines.flatMap((line) => /^<(untrusted-speech \w+)>$/.exec(line)?.[1] ?? [])
  return marks.map((mark) => `</${mark}>`).filter((end) => !lines.includes(end))
}
