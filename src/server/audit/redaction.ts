import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { Redact } from '../../platform/key-redaction.ts'
import { isObject } from '../../text/json.ts'
import { firstCharacters, safeLine } from '../../text/safe-text.ts'

/**
 * Redaction rules for tool arguments, by name at any depth. Booleans are shown, as are numbers that
 * are not telephone numbers. Texts without a rule are recorded by their length, long ones also by a
 * digest. So conversations stay out of the audit trail, and new arguments are hidden by default.
 */
export const auditedArguments = {
  /** Shown: ids, names given by people, and values of the platform. */
  shown: [
    'account_id',
    'add_tags',
    'agent_id',
    'agent_ids',
    'allowed_ips',
    'any_tag',
    'clear',
    'expected_modified',
    'inbound_agent_id',
    'language',
    'languages',
    'medium',
    'mode',
    'model',
    'name',
    'phone_number_id',
    'phone_number_ids',
    'provider',
    'remove_tags',
    'sip_trunk_id',
    'sip_trunk_ids',
    'source',
    'subaccount_id',
    'tags',
    'termination_uri',
    'to_account_id',
    'type',
    'undo',
    'unused_since',
    'voice_id',
    'with_tag',
  ],
  /**
   * Ids chosen by a client. They are shown, to find an entry by its id, but telephone numbers in
   * them are shortened.
   */
  ownIds: ['external_id'],
  /** Telephone numbers: only the last digits, unless the operator wants full numbers. */
  numbers: ['from_number', 'number', 'to_number'],
  /** Never recorded. */
  secrets: ['confirm_token', 'device_fingerprint'],
  /**
   * Data of any shape, given by a client: only field names and the lengths of texts are recorded.
   */
  freeData: ['metadata', 'test_variables'],
} as const

type Treatment = keyof typeof auditedArguments | 'counted'

const treatments: ReadonlyMap<string, Treatment> = new Map(
  (['shown', 'ownIds', 'numbers', 'secrets', 'freeData'] as const).flatMap((treatment) =>
    auditedArguments[treatment].map((name) => [name, treatment] as const),
  ),
)

/** Field names in free objects whose values are hidden. */
const secretName = /secret|token|passw|credential|authorization|api_?key|private/i

const treatmentOf = (name: string): Treatment =>
  treatments.get(name) ?? (secretName.test(name) ? 'secrets' : 'counted')

interface RedactionOptions {
  readonly redact: Redact
  /** If true, telephone numbers are recorded in full. */
  readonly showsNumbers: boolean
}

const max = { characters: 100, items: 20, depth: 6, values: 400 } as const

/**
 * Minimum length of a text with a digest, characters. A digest would reveal a shorter text to
 * guessing.
 */
const minDigestLength = 200

/** Redacts client data by `auditedArguments`, and bounds its size. */
export class Redaction {
  readonly #options: RedactionOptions
  /** Number of values that may still be recorded. Bounds the size of an entry. */
  #left: number = max.values
  /** The last digits of the telephone numbers among the arguments. */
  #numberEnds: readonly string[] = []

  constructor(options: RedactionOptions) {
    this.#options = options
  }

  /** The redacted arguments of a tool call. `known`: names of the tool's arguments. */
  arguments(given: Readonly<Record<string, unknown>>, known: readonly string[]): unknown {
    const isKnown = new Set(known)
    this.#numberEnds = numbersIn(given).flatMap(endOf)
    return this.#object(given, (name, value) =>
      isKnown.has(name) ? this.#value(value, treatmentOf(name), 1) : counted(value),
    )
  }

  /**
   * Redacts a text that may be shown: only telephone numbers in it are shortened. IP addresses and
   * times are kept.
   */
  readonly shown = (text: string): string =>
    this.#safe(text, (keyFree) => {
      const isAddress = isIP(keyFree.replace(/\/\d{1,3}$/, '')) !== 0
      const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(keyFree)
      return isAddress || isTime ? keyFree : withShortenedNumbers(keyFree)
    })

  /**
   * Keeps an id of the platform or of this server in full: its digits are not a telephone number.
   */
  readonly id = (text: string): string => this.#safe(text, (keyFree) => keyFree)

  /**
   * Redacts an id chosen by a client. Digits count as a telephone number if they begin with a plus,
   * or occur among the arguments or in `numbers`, those of the request.
   */
  readonly ownId = (text: string, numbers: readonly string[] = []): string => {
    const ends = [...this.#numberEnds, ...numbers.flatMap(endOf)]
    return this.#safe(text, (id) => withShortenedNumbers(id, (number) => isTelephone(number, ends)))
  }

  #safe(text: string, shorten: (keyFree: string) => string): string {
    const { redact, showsNumbers } = this.#options
    // Redacts the API key first: a shortened text may contain a part of it.
    const beginning = redact.start(text, 10 * max.characters)
    const keyFree = beginning.replace(/[^\s/@:]{1,100}:[^\s/@]{0,100}@/g, '…@')
    return firstCharacters(safeLine(showsNumbers ? keyFree : shorten(keyFree)), max.characters)
  }

  readonly number = (text: string): string =>
    this.#options.showsNumbers ? this.shown(text) : shortenedNumber(text)

  #value(value: unknown, treatment: Treatment, depth: number): unknown {
    if (--this.#left < 0 || depth > max.depth) return counted(value)
    if (value === null || typeof value === 'boolean') return value
    if (treatment === 'secrets') return { hidden: true }
    if (treatment === 'freeData') return this.#freeData(value)
    if (Array.isArray(value)) return this.#list(value, treatment, depth)
    if (isObject(value))
      return this.#object(value, (name, field) => this.#value(field, treatmentOf(name), depth + 1))
    return this.#leaf(value, treatment)
  }

  #leaf(value: unknown, treatment: Treatment): unknown {
    if (treatment === 'numbers') return this.number(String(value))
    if (treatment === 'ownIds') return this.ownId(String(value))
    if (typeof value === 'number') {
      const text = String(value)
      const shown = this.shown(text)
      return shown === text ? value : shown
    }
    return typeof value === 'string' && treatment === 'shown' ? this.shown(value) : counted(value)
  }

  #list(values: readonly unknown[], treatment: Treatment, depth: number): unknown[] {
    const shown = values
      .slice(0, max.items)
      .map((value) => this.#value(value, treatment, depth + 1))
    return values.length > shown.length ? [...shown, { more: values.length - shown.length }] : shown
  }

  #freeData(value: unknown): unknown {
    return isObject(value) ? this.#object(value, (_, field) => counted(field)) : counted(value)
  }

  #object(
    given: Readonly<Record<string, unknown>>,
    redacted: (name: string, value: unknown) => unknown,
  ): Record<string, unknown> {
    const names = Object.keys(given)
    const shown = names.slice(0, max.items * 2)
    this.#left -= shown.length
    // Clients also choose field names.
    const fields = shown.map((name) => [
      treatments.has(name) ? name : this.shown(name),
      redacted(name, given[name]),
    ])
    const more = names.length - shown.length
    return Object.fromEntries(more > 0 ? [...fields, ['…', { more }]] : fields)
  }
}

/** Telephone numbers among arguments, to the recorded depth. */
function numbersIn(given: unknown, depth = 0): string[] {
  if (depth > max.depth) return []
  if (Array.isArray(given)) return given.flatMap((one) => numbersIn(one, depth + 1))
  if (!isObject(given)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    if (treatments.get(name) !== 'numbers') return numbersIn(value, depth + 1)
    const isLeaf = typeof value === 'string' || typeof value === 'number'
    return isLeaf ? [firstCharacters(String(value), max.characters)] : []
  })
}

/** The record of a hidden value: its length or type. */
function counted(value: unknown): unknown {
  if (typeof value === 'string') {
    const characters = value.length
    return characters < minDigestLength ? { characters } : { characters, sha256: digest(value) }
  }
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return { items: value.length }
  return { type: typeof value }
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

/*
 * Telephone numbers in the audit trail keep their last digits: an auditor who knows the number
 * recognises it, and nobody else learns it.
 */

/**
 * Matches a telephone number in a text: at least seven digits of any script, with any separators
 * except letters, so that spaces, punctuation or zero-width characters cannot hide a number. Marks
 * such as U+30FC and U+02BC and invisible fillers are letters to Unicode, but separators here.
 */
const written =
  /[+\uFF0B\uFE62]?\p{N}(?:[[\P{L}\p{Lm}\p{Default_Ignorable_Code_Point}]--\p{N}]*\p{N}){6,}/gv

/** Matches generated ids, which could look like numbers: UUIDs, and ids of `mintExternalId`. */
const madeIds =
  /((?<![\da-z])(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|auto-[\da-f]{24})(?![\da-z]))/i

const maxKept = 4

/** The last four digits, such as `…5678`, but never more than half of the number. */
function shortenedNumber(text: string): string {
  const digits = text.match(/\p{N}/gu) ?? []
  const kept = Math.min(maxKept, Math.floor(digits.length / 2))
  return `…${kept === 0 ? '' : digits.slice(-kept).join('')}`
}

/**
 * Shortens the telephone numbers in a text for which `isMeant` is true. Generated ids stay whole.
 */
const withShortenedNumbers = (
  text: string,
  isMeant: (number: string) => boolean = () => true,
): string =>
  text
    .split(madeIds)
    .map((part, at) =>
      // `split` puts captured text at odd indexes.
      at % 2 === 1
        ? part
        : part.replace(written, (number) => (isMeant(number) ? shortenedNumber(number) : number)),
    )
    .join('')

/** Number of final digits by which telephone numbers are compared. */
const comparedDigits = 7

/** The digits of a text; digits of other scripts become 0 to 9. */
const digitsOf = (text: string) =>
  (text.normalize('NFKC').match(/\p{Nd}/gu) ?? []).map((digit) => decimalValue(digit)).join('')

/**
 * Value of a digit. The digits of each script have consecutive code points, from zero (Unicode
 * §4.6).
 */
function decimalValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/^\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return (code - zero) % 10
}

/** The last digits of a telephone number; empty for a short number. */
function endOf(number: string): string[] {
  const end = digitsOf(number).slice(-comparedDigits)
  return end.length === comparedDigits ? [end] : []
}

/**
 * True for a telephone number in a client's id, false for other digits, such as order numbers. A
 * telephone number begins with a plus, or is a called or calling number of the request.
 */
const isTelephone = (number: string, ends: readonly string[]) =>
  /^[+\uFF0B\uFE62]/.test(number) || ends.some((end) => digitsOf(number).includes(end))
