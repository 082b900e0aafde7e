import { safeLine } from '../../text/safe-text.ts'

/** Characters that take two columns: East Asian wide ones and emoji (UAX #11, UTS #51). */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

/** Characters without a column of their own. */
const none = /[\p{M}\u200b-\u200d]/u

const isAscii = (text: string) => !/[^ -~]/.test(text)

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  if (isAscii(text)) return text.length
  let columns = 0
  for (const character of text) columns += none.test(character) ? 0 : wide.test(character) ? 2 : 1
  return columns
}

export const padded = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)))

/** A text from outside in a cell of a table: one line, without effect on the terminal. */
export const cellText = (value: unknown): string => safeLine(plainText(value))

/** A value of JSON in few characters. */
function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return value.map(String).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
