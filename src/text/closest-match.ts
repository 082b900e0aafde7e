import { distance } from 'fastest-levenshtein'

/*
 * What a mistyped word most likely means: the one place that decides it, for arguments, ids, names,
 * catalog entries, tool names and time zones. Case and punctuation do not count. A suggestion may
 * differ in a third of the letters; a misspelling, which is refused, in one or two.
 */

/** A longer word is compared with none: that would take long, and it is no typo. */
const longestWord = 200

/** The known word that is closest to a mistyped one; `undefined` when none is close enough. */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  if (word.length > longestWord) return undefined
  const folded = fold(word)
  let closest: string | undefined
  let fewestEdits = maxEdits(folded) + 1
  for (const candidate of known) {
    const edits = editsBetween(folded, fold(candidate))
    if (edits < fewestEdits) {
      closest = candidate
      fewestEdits = edits
    }
  }
  return closest ?? wordWithSameStartOrEnd(folded, known)
}

/** The only known word that begins or ends with this one (`agent_id` for `id`), or that ends it. */
function wordWithSameStartOrEnd(folded: string, known: readonly string[]): string | undefined {
  if (folded.length < 2) return undefined
  const related = known.filter((candidate) => {
    const other = fold(candidate)
    return other.endsWith(folded) || other.startsWith(folded) || folded.endsWith(other)
  })
  return related.length === 1 ? related[0] : undefined
}

/** The known word that differs in spelling only: `voice_id` for `voiceId`. */
export function sameWord(word: string, known: readonly string[]): string | undefined {
  return known.find((candidate) => fold(candidate) === fold(word))
}

/** Whether a word differs from a known one by a slip: one edit, two from eight letters on. */
export function isMisspelt(word: string, known: string): boolean {
  const [given, right] = [fold(word), fold(known)]
  return editsBetween(given, right) <= (right.length < 8 ? 1 : 2)
}

/** A thing that people refer to by its id or by a name. */
export interface NamedItem {
  readonly id: string
  readonly names: readonly (string | null | undefined)[]
}

/** The items that a mistyped id or name most likely means, the closest first. */
export function closestItems<T extends NamedItem>(word: string, items: readonly T[], max = 3): T[] {
  const folded = fold(word)
  return items
    .map((item) => ({ item, edits: Math.min(...idAndNames(item).map(editsTo(folded))) }))
    .filter(({ edits }) => edits <= maxEdits(folded))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, max)
    .map(({ item }) => item)
}

const idAndNames = ({ id, names }: NamedItem) => [
  id,
  ...names.filter((name) => typeof name === 'string'),
]

/**
 * Whether a word can only be a misspelling of an id or a name: it has the same digits and as many
 * segments. `gpt-5.1` is not `gpt-4.1`, and `gpt-5` not `gpt-5-mini`.
 */
export function isMisspeltId(word: string, id: string): boolean {
  if (word.length > longestWord) return false
  const [segments, others] = [segmentsOf(word), segmentsOf(id)]
  const isAlike = (segment: string, at: number) =>
    isNumber(segment) ? segment === others[at] : !isNumber(others[at] ?? '')
  return segments.length === others.length && segments.every(isAlike) && isMisspelt(word, id)
}

const isNumber = (segment: string) => /^\p{N}/u.test(segment)

/** Letters and digits apart: `gpt-4o` as gpt, 4, o. */
const segmentsOf = (word: string): readonly string[] =>
  word.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []

/** Whether an id is a narrower one of a word: `de-DE` of `de`, `gpt-5-mini` of `gpt-5`. */
export const isNarrower = (id: string, word: string): boolean =>
  word !== '' &&
  id.toLowerCase().startsWith(word.toLowerCase()) &&
  /^[^\p{L}\p{N}]/u.test(id.slice(word.length))

/** Edits between two words; a name that contains the whole word counts as one edit away. */
const editsTo = (folded: string) => (name: string) => {
  const other = fold(name)
  const edits = editsBetween(folded, other)
  return folded.length > 2 && other.includes(folded) ? Math.min(edits, 1) : edits
}

/** Edits between two words; two neighbouring letters in the wrong order are one. */
const editsBetween = (word: string, other: string) =>
  isSwapped(word, other) ? 1 : distance(word, other)

function isSwapped(word: string, other: string): boolean {
  const at = [...word].findIndex((_, index) => word[index] !== other[index])
  const swapped = `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`
  return at >= 0 && swapped === other
}

/** How an item is written for a reader: `Front desk (1b9d…)`. */
export const itemLabel = ({ id, names }: NamedItem): string =>
  nameWithId(
    names.find((one) => one && one !== id),
    id,
  )

/** A name for people, and the id that is meant. */
export const nameWithId = (name: string | null | undefined, id: string): string =>
  name ? `${name} (${id})` : id

const maxEdits = (folded: string) => Math.max(1, Math.floor(folded.length / 3))

/** `agentId`, `agent-id` and `agent_id` are one word. */
const fold = (word: string) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
