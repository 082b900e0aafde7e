import { firstCharacters } from './first-characters.ts'
import { safeLine } from './safe-text.ts'

/** Longest text of a client within one of our own sentences, in characters. */
const longestPart = 200

/** Longest message of an error, and longest line of the log, in characters. */
const longestMessage = 1000

/**
 * Text that a client chose, for a log line or an error: control and invisible characters are
 * escaped, and a long text is cut, with a note of its length. Doing it twice changes nothing.
 */
export function clientText(text: string, longest = longestPart): string {
  // Only the part that can be shown is escaped: a text may have millions of characters.
  const shown = safeLine(text.slice(0, longest))
  if (text.length <= longest && shown.length <= longest) return shown
  const note = `… (${text.length} characters)`
  return `${firstCharacters(shown, longest - note.length)}${note}`
}

/** The same for a whole message, in which a client's text may stand. */
export const messageText = (text: string): string => clientText(text, longestMessage)
