import { SendFailure } from './failure.ts'
import type { Send } from './send.ts'

/** Replaces a key in a text, in every way that it may be written there. */
export type Redact = (text: string) => string

/** What replaces the key. */
const instead = '[API key]'

/** Shortest key that is replaced: no real key is shorter, and its letters may occur in any word. */
const shortest = 6

/**
 * A key may be written in capitals or small letters (as in the host of an address), escaped as in
 * addresses, in JSON (also JSON within JSON) and in HTML, character by character, or as base64.
 */
export function redactor(apiKey: string): Redact {
  if (apiKey.length < shortest) return (text) => text
  const small = apiKey.toLowerCase()
  const written = new RegExp([...apiKey].map(waysToWrite).join(''), 'gi')
  const cores = [0, 1, 2].map((offset) => base64Of(apiKey, offset))
  const encoded = new RegExp(cores.map(({ pattern }) => pattern).join('|'), 'g')
  // Nearly no text holds the key, and this check is ten times as fast as the replacement.
  const hasSigns = /["\\/]/.test(apiKey)
  const isWritten = (text: string) =>
    text.toLowerCase().includes(small) ||
    isEscaped.test(text) ||
    (hasSigns && /\\["\\/]/.test(text))
  const isEncoded = (text: string) => cores.some(({ part }) => text.includes(part))
  return (text) => {
    const rest = isWritten(text) ? text.replace(written, instead) : text
    return isEncoded(rest) ? rest.replace(encoded, instead) : rest
  }
}

/** Every escape of visible ASCII contains one of these, except a backslash before a sign. */
const isEscaped = /%(?:25)?[2-7][\da-f]|\\u00[2-7]|&#/i

/**
 * At most seven, and only from the first of a row, so that a text of only backslashes takes no longer
 * than any other.
 */
const backslashes = '(?<!\\\\)\\\\{1,7}'

function waysToWrite(character: string): string {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).padStart(2, '0')
  const ways = [
    literal(character),
    ...(/["\\/]/.test(character) ? [`${backslashes}${literal(character)}`] : []),
    `${backslashes}u00${hex}`,
    `%(?:25)?${hex}`,
    `&#(?:0{0,4}${code}|x0{0,4}${hex});`,
  ]
  return `(?:${ways.join('|')})`
}

const literal = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/**
 * The key in base64 and base64url where it begins `offset` bytes after a group of three: only the
 * characters that depend on the key alone.
 */
function base64Of(apiKey: string, offset: number): { pattern: string; part: string } {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(apiKey)])
  const first = Math.ceil((offset * 8) / 6)
  const whole = Math.floor((bytes.length * 8) / 6)
  const characters = bytes.toString('base64').slice(first, whole)
  const isExact = (bytes.length * 8) % 6 === 0
  const rest = isExact ? '' : '[A-Za-z\\d+/_-]?(?:={1,2})?'
  const [part = ''] = characters.split(/[+/]/).toSorted((one, other) => other.length - one.length)
  return { pattern: [...characters].map((one) => signs[one] ?? one).join('') + rest, part }
}

/** Signs of base64, with the ways that URLs and JSON write them. */
const signs: Readonly<Record<string, string>> = {
  '+': '(?:[+-]|%2[Bb]|\\\\u002[Bb])',
  '/': '(?:\\\\{0,7}/|_|%2[Ff])',
}

/**
 * A sender whose replies do not hold the key. It is replaced in the text of the reply before it is
 * parsed, so that also names of fields, headers and the address of a redirect are free of it.
 */
export const keyFree =
  (send: Send, redact: Redact): Send =>
  async (request) => {
    try {
      const reply = await send(request)
      return {
        status: reply.status,
        body: redact(reply.body),
        header(name) {
          const value = reply.header(name)
          return value === undefined ? undefined : redact(value)
        },
      }
    } catch (error) {
      if (!(error instanceof SendFailure) || error.failure.kind !== 'redirected') throw error
      throw new SendFailure({ ...error.failure, origin: redact(error.failure.origin) })
    }
  }
