import { escaped, invisible } from './safe-text.ts'

declare const dialog: unique symbol

/**
 * Text of a confirmation dialog, which a person decides on: our own words, and values from outside
 * only in quotes. Only the functions in this file make such a text, so that no outside text gets
 * into a question by accident.
 */
export type DialogText = string & { readonly [dialog]: true }

const asDialogText = (text: string) => text as DialogText

/**
 * A text as a JSON string in which everything is visible. Besides what JSON escapes, these are
 * escaped:
 * - invisible and control characters, and every space but the ordinary one
 * - four and more ordinary spaces in a row, which would push the rest out of sight
 * - combining marks without a letter before them, or several of them, which cover their neighbours
 * - `<`, and `(` after `]`: a client that renders Markdown or HTML would hide comments and links
 */
export function quoted(text: string): DialogText {
  return asDialogText(`"${text.replaceAll(deceptive, escaped)}"`)
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

/** Tag for our own text around values that are dialog text already. */
export const dialogText = (
  words: TemplateStringsArray,
  ...values: readonly (DialogText | number | boolean | null)[]
): DialogText => asDialogText(words.reduce((text, word, at) => `${text}${values[at - 1]}${word}`))

export const joinDialogTexts = (parts: readonly DialogText[], between: string): DialogText =>
  asDialogText(parts.join(between))

/** `1 agent`, `2 agents`: for nouns that take an s. */
export const countedInDialog = (count: number, noun: DialogText): DialogText =>
  asDialogText(counted(count, noun))

/** A word such as an id, a number or a field's name: without quotes where nothing in it can mislead. */
export const wordOrQuoted = (word: string): DialogText =>
  /^\+?\w[\w-]{0,63}$/.test(word) ? asDialogText(word) : quoted(word)

/** Longest name that is shown in full, in characters. */
const longestName = 200

/** A text that is not itself agreed to, such as a name; of a long one the rest is counted. */
export function quotedUpTo(text: string, max = longestName): DialogText {
  const characters = [...text]
  const rest = characters.length - max
  if (rest <= 0) return quoted(text)
  return dialogText`${quoted(characters.slice(0, max).join(''))} and ${rest} more characters`
}

/** A name for people, and the id that is meant: `"Front desk" (1b9d…)`. */
export const quotedNameWithId = (name: string | null | undefined, id: string): DialogText =>
  name ? dialogText`${quotedUpTo(name)} (${wordOrQuoted(id)})` : wordOrQuoted(id)

/**
 * A name among others in one of our lines: as it is where it cannot be taken for several names, or for
 * our own words about them; otherwise in quotes.
 */
export const shownName = (name: string): string => (isPlain.test(name) ? name : quoted(name))

/** Letters, digits, and signs that stand within a name: not those that our lines use between names. */
const isPlain = /^[+\p{L}\p{N}](?:[ \p{L}\p{M}\p{N}_&@#'’/+*-]|\.(?! |$)){0,99}$/u

/** `1 agent`, `2 agents`: for nouns that take an s. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`
