/** Longest text of a client that stands within one of our own sentences, in characters. */
const longestPart = 200

/** Longest message of an error, and longest line of the log, in characters. */
const longestMessage = 1000

/**
 * Control characters (line breaks and ANSI sequences begin with one), format characters (bidirectional
 * overrides, zero width), surrogates that stand alone, line and paragraph separators.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Text that a client chose, as it may stand in a log line or in an error: what could forge a line,
 * steer a terminal or hide is written as an escape, and what is long is cut, with a note of its
 * length. Doing it twice changes nothing.
 */
export function clientText(text: string, longest = longestPart): string {
  // Only what can be shown is looked at: a method may have millions of characters.
  const shown = text.slice(0, longest).replace(hidden, escapeOf)
  if (text.length <= longest && shown.length <= longest) return shown
  const note = `… (${text.length} characters)`
  return `${shown.slice(0, longest - note.length).replace(/[\ud800-\udbff]$/, '')}${note}`
}

/** The same for a whole message, ours and the client's words together. */
export const messageText = (text: string): string => clientText(text, longestMessage)

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}
