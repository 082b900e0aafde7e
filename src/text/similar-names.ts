import { distance } from 'fastest-levenshtein'
import { fold } from './nearest-word.ts'

/** Something that exists: what it is referred to by, and what people call it. */
export interface Known {
  readonly id: string
  readonly names: readonly (string | null | undefined)[]
}

/** The known ones that a mistaken word most likely means, the likeliest first. */
export function similar(word: string, known: readonly Known[], most = 3): Known[] {
  const folded = fold(word)
  const farthest = Math.max(1, Math.floor(folded.length / 3))
  return known
    .map((one) => ({ one, far: Math.min(...labels(one).map((label) => farness(folded, label))) }))
    .filter(({ far }) => far <= farthest)
    .sort((a, b) => a.far - b.far)
    .slice(0, most)
    .map(({ one }) => one)
}

const labels = ({ id, names }: Known) => [id, ...names.filter((name) => typeof name === 'string')]

/** Edits between two words; a name that holds the whole word is one edit away. */
function farness(folded: string, label: string): number {
  const other = fold(label)
  const edits = distance(folded, other)
  return folded.length > 2 && other.includes(folded) ? Math.min(edits, 1) : edits
}

/** How a known one is told: `Front desk (1b9d…)`. */
export const told = ({ id, names }: Known): string =>
  named(
    names.find((one) => one && one !== id),
    id,
  )

/** A name for people, and the id that is meant. */
export const named = (name: string | null | undefined, id: string): string =>
  name ? `${name} (${id})` : id
