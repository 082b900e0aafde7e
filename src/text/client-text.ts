import { safeLine } from './safe-text.ts'

/** Longest text of a client that stands within one of our own sentences, in characters. */
const longestPart = 200

/** Longest message of an error, and longest line of the log, in characters. */
const longestMessage = 1000

/**
 * Text that a client chose, as it may stand in a log line or in an error: what could forge a line,
 * steer a terminal or hide is written as an escape, and what is long is cut, with a note of its
 * length. Doing it twice changes nothing.
 */
export function clientText(text: string, longest = longestPart): string {
  // Only what can be shown is looked at: a method may have millions of characters.
  const shown = safeLine(text.slice(0, longest))
  if (text.length <= longest && shown.length <= longest) return shown
  const note = `… (${text.length} characters)`
  return `${shown.slice(0, longest - note.length).replace(/[\ud800-\udbff]$/, '')}${note}`
}

/** The same for a whole message, ours and the client's words together. */
export const messageText = (text: string): string => clientText(text, longestMessage)
