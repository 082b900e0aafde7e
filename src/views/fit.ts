import type { RouteRequest } from '../contract/route.ts'
import { compactText } from './compact.ts'
import { estimateTokens } from './tokens.ts'

/** Most tokens of one result, about: more floods the context of the model that reads it. */
export const resultBudget = 6000

/** How a result is shortened to a beginning that fits. */
export interface Cut {
  /** How many items it holds. */
  readonly count: (result: Result) => number
  /** The same result with the first `kept` of its items, and how to get the rest. */
  readonly keep: (result: Result, kept: number, request: RouteRequest) => Result
}

type Result = Readonly<Record<string, unknown>>

/** A result and its text, both within the budget. */
export interface Fitted {
  readonly structured: Record<string, unknown>
  readonly text: string
}

/**
 * Shortens what is too long: at an item boundary where there are items, else by cutting the
 * longest texts, in the text only: `structured` keeps them whole for programs.
 */
export function shortened(
  structured: Record<string, unknown>,
  { cut, request }: { cut: Cut | undefined; request: RouteRequest },
): Fitted {
  const whole = { structured, text: compactText(structured) }
  if (isShort(whole.text)) return whole
  const items = cut?.count(structured) ?? 0
  if (!cut || items === 0) return { structured, text: compactText(withShortTexts(structured)) }
  // At least one item: nothing at all would leave the caller where it was.
  let [kept, tooMany] = [1, items + 1]
  while (tooMany - kept > 1) {
    const middle = (kept + tooMany) >> 1
    if (isShort(compactText(cut.keep(structured, middle, request)))) kept = middle
    else tooMany = middle
  }
  const part = kept < items ? { ...cut.keep(structured, kept, request) } : structured
  const text = compactText(part)
  return {
    structured: part,
    text: isShort(text) ? text : compactText(withShortTexts(part)),
  }
}

/** No token is less than a byte, so most results need no estimate. */
const isShort = (text: string) =>
  Buffer.byteLength(text) <= resultBudget || estimateTokens(text, resultBudget) <= resultBudget

/** Longest single text of a result that is too long, in characters. */
const longestText = 4000

function withShortTexts(value: unknown): unknown {
  if (typeof value === 'string') {
    const more = value.length - longestText
    return more > 0 ? `${value.slice(0, longestText)}… (${more} more characters)` : value
  }
  if (Array.isArray(value)) return value.map(withShortTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withShortTexts(field)]),
  )
}

/** Shortens the array under a name, and says how to get the rest. */
export const cutArray = (
  name: string,
  rest: (result: Result, kept: number, request: RouteRequest) => Readonly<Record<string, unknown>>,
): Cut => ({
  count: (result) => arrayOf(result[name]).length,
  keep: (result, kept, request) => ({
    ...result,
    [name]: arrayOf(result[name]).slice(0, kept),
    ...rest(result, kept, request),
  }),
})

const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
