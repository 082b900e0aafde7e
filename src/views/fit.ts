import type { RouteRequest } from '../contract/route.ts'
import { boundedText } from './bounded.ts'
import { compactText } from './compact.ts'
import { fits } from './tokens.ts'

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
 * Shortens what is too long: at an item boundary where there are items, else in the text only, all
 * that is large in it: `structured` keeps it whole for programs.
 */
export function shortened(
  structured: Record<string, unknown>,
  { cut, request }: { cut: Cut | undefined; request: RouteRequest },
): Fitted {
  const whole = { structured, text: compactText(structured) }
  if (fits(whole.text, resultBudget)) return whole
  const items = cut?.count(structured) ?? 0
  if (!cut || items === 0) {
    return { structured, text: boundedText(structured, resultBudget, whole.text) }
  }
  // At least one item: nothing at all would leave the caller where it was.
  let [kept, tooMany] = [1, items + 1]
  while (tooMany - kept > 1) {
    const middle = (kept + tooMany) >> 1
    if (fits(compactText(cut.keep(structured, middle, request)), resultBudget)) kept = middle
    else tooMany = middle
  }
  const part = kept < items ? { ...cut.keep(structured, kept, request) } : structured
  return { structured: part, text: boundedText(part, resultBudget) }
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
