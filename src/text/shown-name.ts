import { quoted } from './dialog-text.ts'

/**
 * A name among others in one of our lines: as it is where it cannot be taken for several names, or for
 * our own words about them; otherwise in quotes.
 */
export const shownName = (name: string): string => (isPlain.test(name) ? name : quoted(name))

/** Letters, digits, and signs that stand within a name: not those that our lines use between names. */
const isPlain = /^[+\p{L}\p{N}](?:[ \p{L}\p{M}\p{N}_&@#'’/+*-]|\.(?! |$)){0,99}$/u
