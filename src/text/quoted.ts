import { escaped, invisible } from './safe-text.ts'

declare const shown: unique symbol

/**
 * Text for a person who decides on it: our own words, and values of others only in quotes. Made by
 * the functions here alone, so that nothing from outside gets into a question by accident.
 */
export type Shown = string & { readonly [shown]: true }

const asShown = (text: string) => text as Shown

/**
 * A text as a JSON string in which everything can be seen. Escaped beside what JSON escapes:
 * - invisible and control characters, and every space that is not the ordinary one
 * - ordinary spaces, four and more in a row, which would push the rest out of sight
 * - combining marks without a letter to stand on, or piled up, which cover what is beside them
 * - `<`, and `(` after `]`: a client that renders Markdown or HTML would hide comments and links
 */
export function quoted(text: string): Shown {
  return asShown(`"${text.replaceAll(deceptive, escaped)}"`)
}

const deceptive = new RegExp(
  [
    '["\\\\<]',
    '(?<=\\])\\(',
    invisible.source,
    '[\\p{Zl}\\p{Zp}]',
    '(?! )\\p{Zs}',
    ' {4,}',
    '(?<![\\p{L}\\p{N}]\\p{M}{0,3})\\p{M}',
  ].join('|'),
  'gu',
)

/** Words of our own around values that are safe to show. */
export const say = (
  words: TemplateStringsArray,
  ...values: readonly (Shown | number | boolean | null)[]
): Shown => asShown(words.reduce((text, word, at) => `${text}${values[at - 1]}${word}`))

/** Parts one after the other. */
export const joined = (parts: readonly Shown[], between: string): Shown =>
  asShown(parts.join(between))

/** A word such as an id, a number or the name of a field: bare where nothing in it can mislead. */
export const bare = (word: string): Shown =>
  /^\+?\w[\w-]{0,63}$/.test(word) ? asShown(word) : quoted(word)

/** Longest name that is shown whole, in characters. */
const longestName = 200

/** A text that describes and is not what is agreed to; what is left out of a long one is counted. */
export function described(text: string, most = longestName): Shown {
  const characters = [...text]
  const rest = characters.length - most
  if (rest <= 0) return quoted(text)
  return say`${quoted(characters.slice(0, most).join(''))} and ${rest} more characters`
}

/** A name for people, and the id that is meant: `"Front desk" (1b9d…)`. */
export const namedShown = (name: string | null | undefined, id: string): Shown =>
  name ? say`${described(name)} (${bare(id)})` : bare(id)
