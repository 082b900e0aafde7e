import { compactText } from './compact.ts'
import { beginningOf, estimateTokens, fits } from './tokens.ts'

/*
 * Shortening what is read by a model. It is done to the text only: a program gets all of it in
 * structuredContent, where a part of an object would pass for the whole.
 */

const note =
  'Shortened where it says "more"; structuredContent has all of it. Tools that take fields show a part by its path, such as metadata.name.'

/**
 * A value as text of about so many tokens; where something is left out it says how much. `text` is
 * the value as compact text, where the caller has it already.
 */
export function boundedText(
  value: unknown,
  budget: number,
  text: string = compactText(value),
): string {
  if (fits(text, budget)) return text
  const whole: unknown = JSON.parse(text)
  const most = budget - estimateTokens(note)
  const sizes = new Sizes(most)
  // Quotes and line breaks cost more within JSON than by themselves, so once may not be enough.
  for (let share = most; ; share *= 0.7) {
    const short = compactText(fitted(whole, share, sizes))
    if (fits(short, most) || share < 50) return `${short}\n${note}`
  }
}

/** Lines as a text, from the first on, about so many tokens; it says how many are left out. */
export function boundedLines(whole: readonly string[], budget: number): string {
  const text = whole.join('\n')
  if (fits(text, budget)) return text
  const lines = whole.map((line) => boundedString(line, budget / 3))
  let left = budget - 60
  const end = lines.findIndex((line) => {
    left -= estimateTokens(line) + 1
    return left < 0
  })
  const shown = end < 0 ? lines : lines.slice(0, Math.max(1, end))
  const more = lines.length - shown.length
  return [
    ...shown,
    ...openMarks(shown),
    `Shortened${more > 0 ? `: ${more} more lines` : ''}; structuredContent has all of it.`,
  ].join('\n')
}

/** What ends a boundary whose end was left out. */
function openMarks(lines: readonly string[]): string[] {
  const marks = lines.flatMap((line) => /^<(untrusted-speech \w+)>$/.exec(line)?.[1] ?? [])
  return marks.map((mark) => `</${mark}>`).filter((end) => !lines.includes(end))
}

/** A text of about so many tokens. */
export function boundedString(text: string, budget: number): string {
  if (fits(text, budget)) return text
  const begin = beginningOf(text, Math.max(4, budget - 8))
  return `${begin}… (${text.length - begin.length} more characters)`
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

/** Entries of an object, or of an array, where they have no name. */
const entriesOf = (value: object): [name: string, field: unknown][] =>
  Array.isArray(value) ? value.map((item) => ['', item]) : Object.entries(value)

const nameSize = (name: string) => (name === '' ? 1 : estimateTokens(name) + 2)

/** Least that is worth showing of an entry that is cut, and what it costs to say how many there are more. */
const leastShown = 24
const moreSize = 10

/**
 * The same value, about as large as the budget: what is small stays whole, what is large shares the
 * rest evenly, and of more than can be shown the first ones stand for all.
 */
function fitted(value: unknown, budget: number, sizes: Sizes): unknown {
  if (sizes.of(value) <= budget) return value
  if (typeof value === 'string') return boundedString(value, budget)
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
    size <= share ? field : fitted(field, share - nameSize(name), sizes),
  ])
  if (Array.isArray(value)) {
    return [...fields.map(([, item]) => item), ...(more > 0 ? [`… ${more} more`] : [])]
  }
  return Object.fromEntries([...fields, ...(more > 0 ? [['…', `${more} more fields`]] : [])])
}

/** The most that each may take so that all together fit. */
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
