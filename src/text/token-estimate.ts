import { firstCharacters } from './safe-text.ts'

/**
 * Estimates how many tokens a text costs a model. Counting stops above `enough`. For the JSON and
 * prose of results, the estimate differs from o200k by at most a quarter. For other texts it is
 * rather too high than too low.
 */
export function estimateTokens(text: string, enough = Number.POSITIVE_INFINITY): number {
  let tokens = 0
  for (const { 0: piece } of text.matchAll(pieces)) {
    tokens += tokensOfPiece(piece)
    if (tokens > enough) return tokens
  }
  return tokens
}

/**
 * True if a text has at most about `tokens` tokens. A token is at least one byte, so a text with no
 * more bytes than that needs no count.
 */
export const fitsTokens = (text: string, tokens: number): boolean =>
  Buffer.byteLength(text) <= tokens || estimateTokens(text, tokens) <= tokens

/** The beginning of a text, about `tokens` tokens at most. */
function firstTokens(text: string, tokens: number): string {
  let left = tokens
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    left -= tokensOfPiece(piece)
    if (left < 0) return text.slice(0, index)
  }
  return text
}

/**
 * Splits a text roughly as o200k does. A piece is a word with the space before it (a capital after
 * small letters begins a new word), up to three digits, a run of signs, a run of spaces, or any
 * other single character.
 */
const pieces =
  / ?[A-Z\u00c0-\u00de]*[a-z\u00df-\u024f]{1,24}| ?[A-Z\u00c0-\u00de]{1,24}|\d{1,3}|[!-/:-@[-`{-~]{1,24}|\s{1,24}|./gsu

function tokensOfPiece(piece: string): number {
  if (/^\s+$/.test(piece)) return 1
  if (/^\d/.test(piece)) return 1
  if (/^ ?[A-Za-z\u00c0-\u024f]/.test(piece)) return tokensOfWord(piece)
  const code = piece.codePointAt(0) ?? 0
  return code < 0x80 ? Math.ceil(piece.length / 3) : tokensOfLetter(code)
}

/** A common word is one token per 8 letters; random letters are one token per two. */
function tokensOfWord(word: string): number {
  const accents = word.match(/[\u0080-\u024f]/g)?.length ?? 0
  const isWord = /[aeiouy\u00c0-\u024f]/i.test(word) && !/[^aeiouy\u00c0-\u024f ]{6}/i.test(word)
  return Math.max(1, isWord ? Math.ceil((word.length + 2 * accents) / 8) : word.length / 2)
}

/**
 * Tokens of one letter or sign, by the last code point of its block. Rare characters take several
 * tokens.
 */
const costs: readonly (readonly [last: number, tokens: number])[] = [
  [0x058f, 0.45], // Greek, Cyrillic, Armenian
  [0x06ff, 0.4], // Hebrew, Arabic
  [0x08ff, 2],
  [0x0e7f, 0.45], // Scripts of India, Thai
  [0x0fff, 2], // Lao, Tibetan
  [0x109f, 0.65], // Burmese
  [0x10ff, 0.45], // Georgian
  [0x11ff, 2],
  [0x177f, 2.7], // Ethiopic and those of North America
  [0x17ff, 0.7], // Khmer
  [0x1dff, 2.7],
  [0x1fff, 1], // Latin and Greek with more marks
  [0x2fff, 1], // Signs
  [0x9fff, 0.8], // Japanese, Chinese
  [0xabff, 2.7],
  [0xd7ff, 0.6], // Korean
  [0xffff, 1.2],
  [0x10ffff, 2.4], // Emoji, and letters for mathematics
]

const tokensOfLetter = (code: number) => costs.find(([last]) => code <= last)?.[1] ?? 3

/*
 * Functions that shorten a text to a budget. The shortened text says at its end how much was
 * omitted. tool/results/shortening.ts uses them for the results of tools.
 */

const withRest = (start: string, text: string) =>
  start.length < text.length ? `${start}… (${text.length - start.length} more characters)` : text

/** Shortens a text to about `budget` tokens. */
export function shortenToTokens(text: string, budget: number): string {
  if (fitsTokens(text, budget)) return text
  return withRest(firstTokens(text, Math.max(4, budget - tokensOfRest)), text)
}

/** Tokens of `… (N more characters)`. */
const tokensOfRest = 8

/** Shortens a text to `max` characters, not counting `… (N more characters)`. */
export const shortenToCharacters = (text: string, max: number): string =>
  withRest(firstCharacters(text, max), text)

/**
 * The first items whose texts fit the budget, at least one. `extra`: tokens of each item besides its
 * text.
 */
export function firstFitting<T>(
  items: readonly T[],
  budget: number,
  textOf: (item: T) => string,
  extra = 1,
): T[] {
  let left = budget
  const end = items.findIndex((item) => {
    left -= estimateTokens(textOf(item), left) + extra
    return left < 0
  })
  return items.slice(0, end < 0 ? items.length : Math.max(1, end))
}
