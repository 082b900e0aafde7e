import type { RouteRequest } from '../../contract/route.ts'
import { isEmptyValue } from '../../text/json.ts'
import { safeJson } from '../../text/safe-text.ts'
import {
  estimateTokens,
  firstFitting,
  fitsTokens,
  shortenToTokens,
} from '../../text/token-estimate.ts'
import type { ItemShortening, StructuredContent } from '../tool.ts'

/**
 * Approximate maximum tokens of one result. More would fill the context of the model that reads it.
 */
export const resultBudget = 6000

type Content = Readonly<StructuredContent>

/** A result and its text. The text fits the budget. */
export interface ShortResult {
  readonly structured: StructuredContent
  readonly text: string
}

/**
 * Shortens a result that is too long. If the result has items, data and text omit the last ones.
 * Otherwise only the text is shortened; `structured` stays complete for programs.
 */
export function shortenResult(
  structured: StructuredContent,
  { shortening, request }: { shortening: ItemShortening | undefined; request: RouteRequest },
): ShortResult {
  const text = compactJson(structured)
  if (fitsTokens(text, resultBudget)) return { structured, text }
  const fits = (part: Content) => fitsTokens(compactJson(part), resultBudget)
  const part = shortening ? firstItems(structured, { shortening, request, fits }) : structured
  return { structured: part, text: shortenValue(part, resultBudget) }
}

/**
 * The result with as many of its first items as fit. Keeps at least one item, so that the caller
 * makes progress.
 */
export function firstItems(
  structured: StructuredContent,
  {
    shortening,
    request,
    fits,
  }: { shortening: ItemShortening; request: RouteRequest; fits: (part: Content) => boolean },
): StructuredContent {
  const items = shortening.count(structured)
  if (items <= 1 || fits(structured)) return structured
  let [kept, tooMany] = [1, items]
  while (tooMany - kept > 1) {
    const middle = (kept + tooMany) >> 1
    if (fits(shortening.keep(structured, middle, request))) kept = middle
    else tooMany = middle
  }
  return { ...shortening.keep(structured, kept, request) }
}

/** Shortens the array with this name. `rest` says how to get the omitted items. */
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

/** The first lines, within about `budget` tokens. The text says how many lines were omitted. */
export function shortenLines(whole: readonly string[], budget: number): string {
  const text = whole.join('\n')
  if (fitsTokens(text, budget)) return text
  const short = whole.map((line) => shortenToTokens(line, budget / 3))
  const lines = firstFitting(short, budget - tokensOfLastLines, String)
  const more = whole.length - lines.length
  return [
    ...lines,
    ...missingEndMarks(lines),
    `Shortened${more > 0 ? `: ${more} more lines` : ''}; structuredContent has all of it.`,
  ].join('\n')
}

/** Approximate tokens of the last line (`Shortened: …`) and of one end mark, together. */
const tokensOfLastLines = 60

/** The end marks of untrusted blocks that are cut off before their end. */
function missingEndMarks(lines: readonly string[]): string[] {
  const marks = lines.flatMap((line) => /^<(untrusted-speech \w+)>$/.exec(line)?.[1] ?? [])
  return marks.map((mark) => `</${mark}>`).filter((end) => !lines.includes(end))
}

/*
 * Shortens a value for the text that a model reads. The data for programs (structuredContent) stays
 * complete, because part of an object would look like the whole object there.
 */

const note =
  'Shortened where it says "more"; structuredContent has all of it. Tools that take fields show a part by its path, such as metadata.name.'

/**
 * A value as JSON text of about `budget` tokens, which says how much is omitted and where. `text`:
 * the complete value as compact JSON, if the caller already has it.
 */
export function shortenValue(
  value: unknown,
  budget: number,
  text: string = compactJson(value),
): string {
  if (fitsTokens(text, budget)) return text
  const whole: unknown = JSON.parse(text)
  const max = budget - estimateTokens(note)
  const sizes = new Sizes(max)
  // Quotes and line breaks take more tokens inside JSON, so the first attempt may still be too
  // long.
  for (let share = max; ; share *= 0.7) {
    const short = compactJson(shortValue(whole, share, sizes))
    if (fitsTokens(short, max) || share < 50) return `${short}\n${note}`
  }
}

/** Token counts of values. A result may have a million parts, so counting stops above `enough`. */
class Sizes {
  readonly #enough: number
  readonly #known = new Map<object, number>()

  constructor(enough: number) {
    this.#enough = enough
  }

  /** Estimated tokens of a value. Above the limit, an arbitrary larger number. */
  of(value: unknown): number {
    if (typeof value !== 'object' || value === null) {
      return estimateTokens(JSON.stringify(value), this.#enough)
    }
    const known = this.#known.get(value)
    if (known !== undefined) return known
    let size = 2
    for (const [name, field] of entriesOf(value)) {
      size += this.ofEntry(name, field)
      if (size > this.#enough) break
    }
    this.#known.set(value, size)
    return size
  }

  ofEntry(name: string, field: unknown): number {
    return nameSize(name) + this.of(field)
  }
}

/** Properties of an object; items of an array, with an empty name. */
const entriesOf = (value: object): [name: string, field: unknown][] =>
  Array.isArray(value) ? value.map((item) => ['', item]) : Object.entries(value)

const nameSize = (name: string) => (name === '' ? 1 : estimateTokens(name) + 2)

/** Minimum tokens of a shortened entry. */
const minShown = 24

/** Tokens of the text that counts the omitted entries. */
const moreSize = 10

/**
 * The value within the budget. Small entries stay whole, and large ones share the rest evenly. If
 * there are too many entries, only the first are shown.
 */
function shortValue(value: unknown, budget: number, sizes: Sizes): unknown {
  if (sizes.of(value) <= budget) return value
  if (typeof value === 'string') return shortenToTokens(value, budget)
  if (typeof value !== 'object' || value === null) return value
  const entries = entriesOf(value)
  const shown: { name: string; field: unknown; size: number }[] = []
  let left = budget - moreSize
  for (const [name, field] of entries) {
    const size = sizes.ofEntry(name, field)
    left -= Math.min(size, minShown)
    if (left < 0) break
    shown.push({ name, field, size })
  }
  const more = entries.length - shown.length
  const share = evenShare(shown, budget - moreSize)
  const fields = shown.map(({ name, field, size }): [string, unknown] => [
    name,
    size <= share ? field : shortValue(field, share - nameSize(name), sizes),
  ])
  if (Array.isArray(value)) {
    return [...fields.map(([, item]) => item), ...(more > 0 ? [`… ${more} more`] : [])]
  }
  return Object.fromEntries([...fields, ...(more > 0 ? [['…', `${more} more fields`]] : [])])
}

/** The maximum tokens per entry with which all entries fit. */
function evenShare(entries: readonly { size: number }[], budget: number): number {
  let left = budget
  const sizes = entries.map(({ size }) => size).sort((a, b) => a - b)
  for (const [at, size] of sizes.entries()) {
    const share = left / (sizes.length - at)
    if (size > share) return share
    left -= size
  }
  return Number.POSITIVE_INFINITY
}

/**
 * A result as text for a model: JSON without null, empty values, and flags with their usual value.
 * All other fields keep `false` and `0`, because these are answers.
 */
export function compactJson(value: unknown): string {
  return safeJson(JSON.stringify(withoutEmpty(value)) ?? '{}')
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) {
    // The index of an array's item may matter, so no item is omitted.
    return value.map((item) => withoutEmpty(item) ?? null)
  }
  if (typeof value !== 'object' || value === null) return value
  const kept: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(value)) {
    const field = withoutEmpty(given)
    if (isEmptyValue(field) || usual[name] === field) continue
    // `defineProperty` creates an own field even for the name `__proto__`.
    if (name === '__proto__') Object.defineProperty(kept, name, { value: field, enumerable: true })
    else kept[name] = field
  }
  return kept
}

/** Flags that are omitted if they have this value. */
const usual: Readonly<Record<string, unknown>> = {
  is_archived: false,
  is_active: true,
  is_managed: false,
  has_auth_password: false,
  recommended: false,
}
