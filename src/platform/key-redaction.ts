import { SendFailure } from './failure.ts'
import type { Send } from './http-exchange.ts'

/** Removes one API key from a text, in every spelling. */
export interface Redact {
  (text: string): string
  /**
   * Returns the first characters of a text, redacted. If the API key begins among them, the whole
   * key is replaced.
   */
  readonly start: (text: string, first: number) => string
}

/** Text that replaces the API key. */
const replacement = '[API key]'

/**
 * Minimum length of an API key that is redacted. Real keys are longer, and a short text occurs in
 * any word.
 */
const shortest = 6

/**
 * Length of the beginning of each spelling, characters. The beginnings are searched first, because
 * few texts contain any. V8 copies a substring of this length; a longer substring would keep the
 * whole spelling in memory.
 */
const beginning = 12

/** Maximum length of one escaped character at the end of a cut text: `\\\\\\\u0041`. */
const longestEscape = 12

/**
 * Creates the redaction of an API key. It finds the key in any case, in hexadecimal without
 * separators, in base64, and escaped as in URLs, JSON (also nested JSON) and HTML, even if control,
 * invisible or non-ASCII characters are inserted. Clients choose both the key and the text, so time
 * and memory are linear, even if a long text nearly repeats a long key. Between texts, only the
 * beginnings of the spellings are kept in memory besides the key.
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
  return Object.assign((text: string) => start(text, Number.POSITIVE_INFINITY), { start })
}

/** Redacts nothing, for an API key that is not secret. */
export const noRedaction: Redact = Object.assign((text: string) => text, {
  start: (text: string, first: number) => text.slice(0, first),
})

/** A text in the forms that are searched: unescaped, in lower case, or both. */
interface Transforms {
  readonly small: string
  readonly unescaped: string
  readonly smallUnescaped: string
}

/** A spelling of the API key, and the form of the text in which it is searched. */
interface Spelling {
  readonly transform: keyof Transforms
  readonly written: string
  /**
   * Matches the characters after `written` that depend only partly on the API key: the last
   * character of base64, and the padding.
   */
  readonly rest?: RegExp
}

function transformsOf(text: string): Transforms {
  const unescaped = text.replace(escapes, characterMeant)
  const smallUnescaped = unescaped.toLowerCase()
  return {
    // Only ASCII letters become lower case: other letters may become longer, which would shift
    // positions.
    small: unescaped === text ? smallUnescaped : text.replaceAll(/[A-Z]+/g, lowerCase),
    unescaped,
    smallUnescaped,
  }
}

const lowerCase = (text: string) => text.toLowerCase()

function spellingsOf(apiKey: string): Spelling[] {
  const unescaped = apiKey.replace(escapes, characterMeant).toLowerCase()
  return [
    // The API key is also searched in the text without unescaping, which would change a key that
    // looks like an escape, or that follows such a text.
    { transform: 'small', written: apiKey.toLowerCase() },
    ...(unescaped.length < shortest
      ? []
      : [{ transform: 'smallUnescaped', written: unescaped } as const]),
    { transform: 'smallUnescaped', written: Buffer.from(apiKey).toString('hex') },
    ...[0, 1, 2].flatMap((offset) => base64Spellings(apiKey, offset)),
  ]
}

/**
 * The API key in base64 and base64url, starting `offset` bytes into a group of three. Has only the
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
 * Matches escapes of one character, and characters that no API key contains. Backslashes are
 * skipped, because each level of JSON doubles them. Each level of URL encoding repeats the `25` of
 * `%25`.
 */
const escapes =
  /\\+(?:u([\da-f]{4})|x([\da-f]{2})|([!-~])?)|%(?:25)*([\da-f]{2})|&#(?:x0*([\da-f]{1,4})|0*(\d{1,5}));|[^ -~]+/gi

/** The ASCII character behind an escape, except the backslash; otherwise ''. */
function characterMeant(_: string, ...groups: (string | undefined)[]): string {
  const [unicode, byte, sign, percent, hex, decimal] = groups
  if (sign !== undefined) return sign
  const digits = unicode ?? byte ?? percent ?? hex
  const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16)
  return code >= 0x20 && code <= 0x7e && code !== backslash ? String.fromCharCode(code) : ''
}

const backslash = 0x5c

/** A range in a text; `end` is exclusive. */
type Place = readonly [begin: number, end: number]

/** Ranges in which the API key occurs in a text. */
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

/** For each of the first `count` unescaped characters: its position in the escaped text. */
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
 * Positions of a part in a text (Knuth, Morris and Pratt). `indexOf` takes quadratic time for a
 * text that nearly repeats a long part.
 */
function foundIn(text: string, part: string): number[] {
  // For each prefix of the part: length of the longest shorter prefix with which it ends.
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

/** The first characters of a text with these ranges redacted. */
function withoutPlaces(text: string, places: readonly Place[], first: number): string {
  const parts: string[] = []
  let at = 0
  for (const [begin, end] of places.toSorted(([a], [b]) => a - b)) {
    if (begin >= first) break
    if (begin >= at) parts.push(text.slice(at, begin), replacement)
    at = Math.max(at, end)
  }
  return [...parts, text.slice(at, Math.max(at, first))].join('')
}

/**
 * Wraps a sender so that no reply contains the API key. Redaction precedes parsing, so it covers
 * field names, headers and redirect URLs.
 */
export const withRedactedReplies =
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
