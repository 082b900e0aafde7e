import type { Send } from './exchange.ts'
import { SendFailure } from './failure.ts'

/** Replaces a key in a text, in every way that it may be written there. */
export interface Redact {
  (text: string): string
  /** The same for the first characters of a text; a key that begins among them is replaced whole. */
  readonly start: (text: string, first: number) => string
}

/** What replaces the key. */
const instead = '[API key]'

/** Shortest key that is replaced: no real key is shorter, and its letters may occur in any word. */
const shortest = 6

/**
 * How much of each spelling is looked for first, in characters. Nearly no text has that much of it. V8
 * copies a part of this length; a longer part would keep the whole spelling in memory.
 */
const beginning = 12

/** Most characters that stand for one of the key where a text is cut: `\\\\\\\u0041`. */
const longestEscape = 12

/**
 * Finds a key in capitals or small letters, in hexadecimal without separators, in base64, and escaped
 * as in addresses, in JSON (also JSON within JSON) and in HTML, also where control characters,
 * invisible ones or others beyond ASCII stand between its own.
 *
 * Clients choose both the key and the text. So this takes linear time and memory, also where a long
 * text nearly repeats a long key, and little of the key is kept for it.
 */
export function redactor(apiKey: string): Redact {
  if (apiKey.length < shortest) return noRedaction
  const beginnings = spellingsOf(apiKey).map(({ transform, written }) => ({
    transform,
    written: written.slice(0, beginning),
  }))
  const start: Redact['start'] = (text, first) => {
    const searched = text.slice(0, first + longestEscape * apiKey.length)
    const transforms = transformsOf(searched)
    const mayHoldKey = beginnings.some(({ transform, written }) =>
      transforms[transform].includes(written),
    )
    if (!mayHoldKey) return text.slice(0, first)
    return withoutPlaces(searched, placesOf(apiKey, searched, transforms), first)
  }
  return withStart(start)
}

const withStart = (start: Redact['start']): Redact =>
  Object.assign((text: string) => start(text, Number.POSITIVE_INFINITY), { start })

/** For a key that is no secret. */
export const noRedaction: Redact = withStart((text, first) => text.slice(0, first))

/** A text as it is searched: unescaped, in small letters, or both. */
interface Transforms {
  readonly small: string
  readonly unescaped: string
  readonly smallUnescaped: string
}

/** A spelling of the key, and the transform of a text that shows it. */
interface Spelling {
  readonly transform: keyof Transforms
  readonly written: string
  /** What may follow that is partly of the key. */
  readonly rest?: RegExp
}

function transformsOf(text: string): Transforms {
  const unescaped = text.replace(escapes, characterMeant)
  const smallUnescaped = unescaped.toLowerCase()
  return {
    // Only letters beyond ASCII become longer, so that places would move.
    small: unescaped === text ? smallUnescaped : text.replaceAll(/[A-Z]+/g, lowerCase),
    unescaped,
    smallUnescaped,
  }
}

const lowerCase = (text: string) => text.toLowerCase()

function spellingsOf(apiKey: string): Spelling[] {
  const unescaped = apiKey.replace(escapes, characterMeant).toLowerCase()
  return [
    // Also found with its escapes: a key may itself seem to be escaped, or the text before it.
    { transform: 'small', written: apiKey.toLowerCase() },
    ...(unescaped.length < shortest
      ? []
      : [{ transform: 'smallUnescaped', written: unescaped } as const]),
    { transform: 'smallUnescaped', written: Buffer.from(apiKey).toString('hex') },
    ...[0, 1, 2].flatMap((offset) => base64Spellings(apiKey, offset)),
  ]
}

/**
 * The key in base64 and base64url where it begins `offset` bytes after a group of three: only the
 * characters that depend on the key alone.
 */
function base64Spellings(apiKey: string, offset: number): Spelling[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(apiKey)])
  const first = Math.ceil((offset * 8) / 6)
  const whole = Math.floor((bytes.length * 8) / 6)
  const rest = (bytes.length * 8) % 6 === 0 ? /^/ : /^[\w+/-]?={0,2}/
  return (['base64', 'base64url'] as const).map((encoding) => ({
    transform: 'unescaped',
    written: bytes.toString(encoding).slice(first, whole),
    rest,
  }))
}

/**
 * Escapes of one character, and characters that no key has. Backslashes count for nothing by
 * themselves: each level of JSON doubles them. Each level of an address repeats the `25` of `%25`.
 */
const escapes =
  /\\+(?:u([\da-f]{4})|x([\da-f]{2})|([!-~])?)|%(?:25)*([\da-f]{2})|&#(?:x0*([\da-f]{1,4})|0*(\d{1,5}));|[^ -~]+/gi

/** The character that an escape stands for, where it is ASCII and no backslash; otherwise nothing. */
function characterMeant(_: string, ...groups: (string | undefined)[]): string {
  const [unicode, byte, sign, percent, hex, decimal] = groups
  if (sign !== undefined) return sign
  const digits = unicode ?? byte ?? percent ?? hex
  const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16)
  return code >= 0x20 && code <= 0x7e && code !== backslash ? String.fromCharCode(code) : ''
}

const backslash = 0x5c

/** A part of a text: where it begins, and the place after its end. */
type Place = readonly [begin: number, end: number]

/** Where the key is written in a text. */
function placesOf(apiKey: string, text: string, transforms: Transforms): Place[] {
  const { begins, ends } = charactersOf(text, transforms.unescaped.length)
  return spellingsOf(apiKey).flatMap(({ transform, written, rest }) =>
    foundIn(transforms[transform], written).map((begin): Place => {
      const end = begin + written.length
      if (transform === 'small') return [begin, end]
      const [more = ''] = rest?.exec(transforms[transform].slice(end, end + 3)) ?? []
      return [begins[begin] ?? 0, ends[end + more.length - 1] ?? 0]
    }),
  )
}

/** Where each of the `count` characters that a text has without its escapes is written in it. */
function charactersOf(text: string, count: number) {
  const begins = new Uint32Array(count)
  const ends = new Uint32Array(count)
  let found = 0
  let at = 0
  const take = (end: number) => {
    begins[found] = at
    ends[found] = end
    found++
    at = end
  }
  for (const match of text.matchAll(escapes)) {
    while (at < match.index) take(at + 1)
    const end = at + match[0].length
    if (match[0].replace(escapes, characterMeant) === '') at = end
    else take(end)
  }
  while (at < text.length) take(at + 1)
  return { begins, ends }
}

/**
 * Where a text has a part, once for each (Knuth, Morris and Pratt). `indexOf` compares a long part
 * again and again in a text that nearly repeats it.
 */
function foundIn(text: string, part: string): number[] {
  // For each beginning of the part: how long a shorter beginning is that it ends with.
  const shorter = new Uint16Array(part.length + 1)
  const matchedWith = (matched: number, character: string | undefined) => {
    let length = matched
    while (length > 0 && part[length] !== character) length = shorter[length] ?? 0
    return part[length] === character ? length + 1 : 0
  }
  for (let length = 1, matched = 0; length < part.length; length++) {
    matched = matchedWith(matched, part[length])
    shorter[length + 1] = matched
  }
  const places: number[] = []
  for (let at = 0, matched = 0; at < text.length; at++) {
    matched = matchedWith(matched, text[at])
    if (matched < part.length) continue
    places.push(at + 1 - part.length)
    matched = 0
  }
  return places
}

/** The first characters of a text, with the key instead of these places. */
function withoutPlaces(text: string, places: readonly Place[], first: number): string {
  const parts: string[] = []
  let at = 0
  for (const [begin, end] of places.toSorted(([a], [b]) => a - b)) {
    if (begin >= first) break
    if (begin >= at) parts.push(text.slice(at, begin), instead)
    at = Math.max(at, end)
  }
  return [...parts, text.slice(at, Math.max(at, first))].join('')
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
