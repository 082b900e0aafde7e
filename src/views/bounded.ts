import { compactText } from './compact.ts'
import { beginningOf, estimateTokens, fits } from './tokens.ts'

/*
 * Shortening what is read by a model. It is done to the text only: a program gets all of it in
 * structuredContent, where a part of an object would pass for the whole.
 */

const note =
  'Shortened where it says "more"; structuredContent has all of it. Tools that take fields show a part by its path, such as metadata.name.'

/** A value as text of about so many tokens; where something is left out it says how much. */
export function boundedText(value: unknown, budget: number): string {
  const text = compactText(value)
  if (fits(text, budget)) return text
  const whole: unknown = JSON.parse(text)
  const most = budget - estimateTokens(note)
  const sizes: Sizes = new Map()
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

/** What objects and arrays cost, as they were found to. */
type Sizes = Map<object, number>

function sizeOf(value: unknown, sizes: Sizes): number {
  if (typeof value !== 'object' || value === null) return estimateTokens(JSON.stringify(value))
  const known = sizes.get(value)
  if (known !== undefined) return known
  const size = entriesOf(value).reduce((sum, [name, field]) => {
    return sum + nameSize(name) + sizeOf(field, sizes)
  }, 2)
  sizes.set(value, size)
  return size
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
  if (sizeOf(value, sizes) <= budget) return value
  if (typeof value === 'string') return boundedString(value, budget)
  if (typeof value !== 'object' || value === null) return value
  const entries = entriesOf(value).map(([name, field]) => ({
    name,
    field,
    size: nameSize(name) + sizeOf(field, sizes),
  }))
  let room = budget - moreSize
  const end = entries.findIndex(({ size }) => {
    room -= Math.min(size, leastShown)
    return room < 0
  })
  const shown = end < 0 ? entries : entries.slice(0, end)
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
