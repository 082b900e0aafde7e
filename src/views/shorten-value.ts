import { shortenToTokens } from '../text/shorten.ts'
import { estimateTokens, fitsTokens } from '../text/tokens.ts'
import { compactJson } from './compact-json.ts'

/*
 * Shortening a value for the text that a model reads. The data for programs, structuredContent, stays
 * whole, because there a part of an object would look like the whole object.
 */

const note =
  'Shortened where it says "more"; structuredContent has all of it. Tools that take fields show a part by its path, such as metadata.name.'

/**
 * A value as JSON text of about so many tokens, which says how much is left out and where. `text` is
 * the whole value as compact JSON, where the caller has it already.
 */
export function shortenValue(
  value: unknown,
  budget: number,
  text: string = compactJson(value),
): string {
  if (fitsTokens(text, budget)) return text
  const whole: unknown = JSON.parse(text)
  const most = budget - estimateTokens(note)
  const sizes = new Sizes(most)
  // Quotes and line breaks cost more within JSON, so the first try may still be too long.
  for (let share = most; ; share *= 0.7) {
    const short = compactJson(shortValue(whole, share, sizes))
    if (fitsTokens(short, most) || share < 50) return `${short}\n${note}`
  }
}

/**
 * Tokens of values. Counting ends where a value costs more than `enough`: how much more makes no
 * difference, and a result may have a million parts.
 */
class Sizes {
  readonly #enough: number
  readonly #known = new Map<object, number>()

  constructor(enough: number) {
    this.#enough = enough
  }

  /** Tokens of a value; for one that costs more than enough, any number above that. */
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

/** Properties of an object, or items of an array, which have no name. */
const entriesOf = (value: object): [name: string, field: unknown][] =>
  Array.isArray(value) ? value.map((item) => ['', item]) : Object.entries(value)

const nameSize = (name: string) => (name === '' ? 1 : estimateTokens(name) + 2)

/** The least that is worth showing of a shortened entry, and what the count of the rest costs, tokens. */
const leastShown = 24
const moreSize = 10

/**
 * The same value within the budget: small entries stay whole, large ones share the rest evenly, and
 * where there are too many entries, only the first are shown.
 */
function shortValue(value: unknown, budget: number, sizes: Sizes): unknown {
  if (sizes.of(value) <= budget) return value
  if (typeof value === 'string') return shortenToTokens(value, budget)
  if (typeof value !== 'object' || value === null) return value
  const entries = entriesOf(value)
  const shown: { name: string; field: unknown; size: number }[] = []
  let room = budget - moreSize
  for (const [name, field] of entries) {
    const size = sizes.ofEntry(name, field)
    room -= Math.min(size, leastShown)
    if (room < 0) break
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

/** The most that each entry may cost so that all fit together. */
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
