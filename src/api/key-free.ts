import { SendFailure } from './failure.ts'
import type { Send } from './send.ts'

/** Takes a key out of a text, however it is written there. */
export type Redact = (text: string) => string

/** What stands in place of a key. */
const instead = '[API key]'

/** So short a key is none of a real platform, and taking it out would only garble texts. */
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
  // Nearly all texts hold no trace of it, and finding that out is ten times as fast.
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

/** What every escape of visible ASCII has one of, besides a backslash before a sign. */
const isEscaped = /%(?:25)?[2-7][\da-f]|\\u00[2-7]|&#/i

/**
 * Bounded, and only from where a row of them begins, so that a text of nothing but backslashes takes
 * no longer than any other.
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
 * What base64, also that of addresses, makes of a key that begins `offset` bytes after a group of
 * three: only the characters that the key alone decides.
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

/** Signs of base64 that addresses and JSON write in other ways. */
const signs: Readonly<Record<string, string>> = {
  '+': '(?:[+-]|%2[Bb]|\\\\u002[Bb])',
  '/': '(?:\\\\{0,7}/|_|%2[Ff])',
}

/**
 * A sender whose replies do not hold the key: looked for once, in the text of the reply, before
 * anything is made of it. Not even the name of a field, a header or the address of a redirect has it.
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
