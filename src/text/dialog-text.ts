import { counted } from './labels.ts'
import { escaped, invisible } from './safe-text.ts'

declare const dialog: unique symbol

/**
 * Text of a confirmation dialog, on which a person bases a decision. It consists of this program's
 * words, and of outside values in quotes. Only the functions of this file create this type, so that
 * no outside text gets into a question by accident.
 */
export type DialogText = string & { readonly [dialog]: true }

const asDialogText = (text: string) => text as DialogText

/**
 * A text as a JSON string in which every character is visible. Escapes, besides what JSON escapes:
 * - invisible and control characters, and every space but the ordinary one
 * - four or more ordinary spaces in a row, which would push the rest out of sight
 * - combining marks without a letter before them, and several in a row, which cover their
 *   neighbours
 * - `<`, and `(` after `]`, because a client that renders Markdown or HTML would hide comments and
 *   links
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

/** Template tag for this program's text. Values must already be dialog text. */
export const dialogText = (
  words: TemplateStringsArray,
  ...values: readonly (DialogText | number | boolean | null)[]
): DialogText => asDialogText(words.reduce((text, word, at) => `${text}${values[at - 1]}${word}`))

export const joinDialogTexts = (parts: readonly DialogText[], between: string): DialogText =>
  asDialogText(parts.join(between))

/** A count with its noun: `1 agent`, `2 agents`. Only for nouns whose plural adds an s. */
export const countedInDialog = (count: number, noun: DialogText): DialogText =>
  asDialogText(counted(count, noun))

/** A word such as an id, a number or a field name, without quotes if no character can mislead. */
export const wordOrQuoted = (word: string): DialogText =>
  /^\+?\w[\w-]{0,63}$/.test(word) ? asDialogText(word) : quoted(word)

/** Maximum length of a name that is shown whole, characters. */
const longestName = 200

/**
 * A quoted text that the person need not read to its end, such as a name. A long text is cut, and
 * the omitted characters are counted.
 */
export function quotedUpTo(text: string, max = longestName): DialogText {
  const characters = [...text]
  const rest = characters.length - max
  if (rest <= 0) return quoted(text)
  return dialogText`${quoted(characters.slice(0, max).join(''))} and ${rest} more characters`
}

/** A quoted name with the id: `"Front desk" (1b9d…)`. */
export const quotedNameWithId = (name: string | null | undefined, id: string): DialogText =>
  name ? dialogText`${quotedUpTo(name)} (${wordOrQuoted(id)})` : wordOrQuoted(id)

/**
 * A name for a list of names. It is quoted only if it could be taken for several names, or for this
 * program's words.
 */
export const shownName = (name: string): string => (isPlain.test(name) ? name : quoted(name))

/**
 * Letters, digits and signs that are usual in a name, without those that separate names in a list.
 */
const isPlain = /^[+\p{L}\p{N}](?:[ \p{L}\p{M}\p{N}_&@#'’/+*-]|\.(?! |$)){0,99}$/u
