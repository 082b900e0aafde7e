/*
 * Telephone numbers in texts of the audit trail. The last digits tell an auditor which number it was who
 * knows the number; nobody else learns it.
 */

/** A number in a text: seven digits or more, with what people write between them. */
const written = /\+?\p{Nd}(?:[\s().\-/\u2010-\u2015]*\p{Nd}){6,}/gu

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Most digits that are kept. */
const mostKept = 4

/** The last digits of a number: `…5678`; never more than half of them. */
export function shortenedNumber(text: string): string {
  const digits = text.match(/\p{Nd}/gu) ?? []
  const kept = Math.min(mostKept, Math.floor(digits.length / 2))
  return `…${kept === 0 ? '' : digits.slice(-kept).join('')}`
}

/** A text with each number in it shortened. A UUID, which may be all digits, stays as it is. */
export const withShortenedNumbers = (text: string): string =>
  uuid.test(text) ? text : text.replace(written, shortenedNumber)
