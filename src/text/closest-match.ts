import { distance } from 'fastest-levenshtein'
import { nameWithId } from './labels.ts'

/*
 * Finds the known word that a mistyped word most likely means: for arguments, ids, names, catalog
 * entries, tool names and time zones. Case and punctuation are ignored. A suggestion may differ
 * from the given word in a third of its letters. A misspelling (`isMisspelt`), which callers
 * refuse, differs in one or two letters.
 */

/** Maximum length of a compared word, characters. A longer text takes long, and is no typo. */
const longestWord = 200

/** The known word closest to a mistyped one; `undefined`: no known word is close enough. */
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

/**
 * The known word that begins or ends with the given word (`agent_id` for `id`), or that the given
 * word ends with; `undefined` if there is none, or more than one.
 */
function wordWithSameStartOrEnd(folded: string, known: readonly string[]): string | undefined {
  if (folded.length < 2) return undefined
  const related = known.filter((candidate) => {
    const other = fold(candidate)
    return other.endsWith(folded) || other.startsWith(folded) || folded.endsWith(other)
  })
  return related.length === 1 ? related[0] : undefined
}

/** The known word that differs only in case and punctuation: `voice_id` for `voiceId`. */
export function sameWord(word: string, known: readonly string[]): string | undefined {
  return known.find((candidate) => fold(candidate) === fold(word))
}

/**
 * True if a word is a misspelling of a known word: it differs by one edit, or by up to two edits if
 * the known word has eight letters or more.
 */
export function isMisspelt(word: string, known: string): boolean {
  const [given, right] = [fold(word), fold(known)]
  return editsBetween(given, right) <= (right.length < 8 ? 1 : 2)
}

/** An item that people refer to by id or by name. */
export interface NamedItem {
  readonly id: string
  readonly names: readonly (string | null | undefined)[]
}

/** Maximum number of suggested items. */
const maxSuggestions = 3

/** The items that a mistyped id or name most likely means, closest first. */
export function closestItems<T extends NamedItem>(word: string, items: readonly T[]): T[] {
  const folded = fold(word)
  return items
    .map((item) => ({ item, edits: Math.min(...idAndNames(item).map(editsTo(folded))) }))
    .filter(({ edits }) => edits <= maxEdits(folded))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, maxSuggestions)
    .map(({ item }) => item)
}

const idAndNames = ({ id, names }: NamedItem) => [
  id,
  ...names.filter((name) => typeof name === 'string'),
]

/**
 * True if a word can only be a misspelling of an id: it is a misspelling, and has the same numbers
 * and as many segments. `gpt-5.1` is no misspelling of `gpt-4.1`, nor `gpt-5` of `gpt-5-mini`.
 */
export function isMisspeltId(word: string, id: string): boolean {
  if (word.length > longestWord) return false
  const [segments, others] = [segmentsOf(word), segmentsOf(id)]
  const isAlike = (segment: string, at: number) =>
    isNumber(segment) ? segment === others[at] : !isNumber(others[at] ?? '')
  return segments.length === others.length && segments.every(isAlike) && isMisspelt(word, id)
}

const isNumber = (segment: string) => /^\p{N}/u.test(segment)

/** Splits a word into letters and digits: `gpt-4o` into gpt, 4, o. */
const segmentsOf = (word: string): readonly string[] =>
  word.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []

/**
 * True if an id extends a word by a part: `de-DE` extends `de`, and `gpt-5-mini` extends `gpt-5`.
 */
export const isNarrower = (id: string, word: string): boolean =>
  word !== '' &&
  id.toLowerCase().startsWith(word.toLowerCase()) &&
  /^[^\p{L}\p{N}]/u.test(id.slice(word.length))

/**
 * Number of edits between a word and a name. A name that contains the whole word counts as one edit
 * away.
 */
const editsTo = (folded: string) => (name: string) => {
  const other = fold(name)
  const edits = editsBetween(folded, other)
  return folded.length > 2 && other.includes(folded) ? Math.min(edits, 1) : edits
}

/** Number of edits between two words. Swapping two neighbouring letters is one edit. */
const editsBetween = (word: string, other: string) =>
  isSwapped(word, other) ? 1 : distance(word, other)

function isSwapped(word: string, other: string): boolean {
  const at = [...word].findIndex((_, index) => word[index] !== other[index])
  const swapped = `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`
  return at >= 0 && swapped === other
}

/** An item as name and id: `Front desk (1b9d…)`; without a name, the id alone. */
export const itemLabel = ({ id, names }: NamedItem): string =>
  nameWithId(
    names.find((one) => one && one !== id),
    id,
  )

const maxEdits = (folded: string) => Math.max(1, Math.floor(folded.length / 3))

/** A word in a form for comparing, in which `agentId`, `agent-id` and `agent_id` are equal. */
const fold = (word: string) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
