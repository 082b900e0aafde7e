import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { isObject } from '../json/is-object.ts'
import { firstCharacters } from '../text/first-characters.ts'
import { safeLine } from '../text/safe-text.ts'
import { shortenedNumber, withShortenedNumbers } from './shortened-numbers.ts'

/**
 * How arguments of tools are recorded, by their names at any depth. Numbers that are not of telephones
 * and booleans are shown. Of every text that is not named here only the length is recorded (and of a long
 * one a digest): what is said or written to people is nobody's business in an audit trail, and a new
 * argument is recorded so until it is decided otherwise.
 */
export const auditedArguments = {
  /** Shown: ids, names that people gave to things, and words of the platform. */
  shown: [
    'account_id',
    'add_tags',
    'agent_id',
    'agent_ids',
    'allowed_ips',
    'clear',
    'expected_modified',
    'external_id',
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
    'source',
    'subaccount_id',
    'tags',
    'termination_uri',
    'to_account_id',
    'type',
    'voice_id',
    'with_tag',
  ],
  /** Telephone numbers: the last digits, unless the operator wants them in full. */
  numbers: ['from_number', 'number', 'to_number'],
  /** Hidden altogether. */
  secrets: ['confirm_token', 'device_fingerprint'],
  /** Free data of a caller: only the names of the fields, and how long their texts are. */
  freeData: ['metadata', 'test_variables'],
} as const

type Treatment = keyof typeof auditedArguments | 'counted'

const treatments: ReadonlyMap<string, Treatment> = new Map(
  (['shown', 'numbers', 'secrets', 'freeData'] as const).flatMap((treatment) =>
    auditedArguments[treatment].map((name) => [name, treatment] as const),
  ),
)

/** Names of fields that the tools do not have, but that a caller may put into free objects. */
const secretName = /secret|token|passw|credential|authorization|api_?key|private/i

const treatmentOf = (name: string): Treatment =>
  treatments.get(name) ?? (secretName.test(name) ? 'secrets' : 'counted')

export interface RedactionOptions {
  /** Removes the API key from a text. */
  readonly redact: (text: string) => string
  /** The operator wants telephone numbers in full. */
  readonly showsNumbers: boolean
}

const most = { characters: 100, items: 20, depth: 6, values: 400 } as const

/** A text of this length or longer has a digest: shorter ones could be found out from it by trying. */
const leastForDigest = 200

/** Redacts what clients send, by the list above. It bounds the size, too. */
export class Redaction {
  readonly #options: RedactionOptions
  /** How many values may follow: an entry is not as large as a client likes. */
  #left: number = most.values

  constructor(options: RedactionOptions) {
    this.#options = options
  }

  /** The arguments of a call; `known` are those that the tool has. */
  arguments(given: Readonly<Record<string, unknown>>, known: readonly string[]): unknown {
    const isKnown = new Set(known)
    return this.#object(given, (name, value) =>
      isKnown.has(name) ? this.#value(value, treatmentOf(name), 1) : counted(value),
    )
  }

  /** A word, name or id as it may be shown. */
  readonly shown = (text: string): string => {
    const { redact, showsNumbers } = this.#options
    // The key first: what is shortened before would no longer be found.
    const beginning = firstCharacters(redact(text), 10 * most.characters)
    const keyFree = beginning.replace(/[^\s/@:]{1,100}:[^\s/@]{0,100}@/g, '…@')
    const isAddress = isIP(keyFree.replace(/\/\d{1,3}$/, '')) !== 0
    const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(keyFree)
    const isKept = showsNumbers || isAddress || isTime
    const shown = isKept ? keyFree : withShortenedNumbers(keyFree)
    return firstCharacters(safeLine(shown), most.characters)
  }

  /** A telephone number. */
  readonly number = (text: string): string =>
    this.#options.showsNumbers ? this.shown(text) : shortenedNumber(text)

  #value(value: unknown, treatment: Treatment, depth: number): unknown {
    if (--this.#left < 0 || depth > most.depth) return counted(value)
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
    if (typeof value === 'number') {
      const text = String(value)
      const shown = this.shown(text)
      return shown === text ? value : shown
    }
    return typeof value === 'string' && treatment === 'shown' ? this.shown(value) : counted(value)
  }

  #list(values: readonly unknown[], treatment: Treatment, depth: number): unknown[] {
    const shown = values
      .slice(0, most.items)
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
    const shown = names.slice(0, most.items * 2)
    this.#left -= shown.length
    const fields = shown.map((name) => [this.#name(name), redacted(name, given[name])] as const)
    const more = names.length - shown.length
    return Object.fromEntries(more > 0 ? [...fields, ['…', { more }]] : fields)
  }

  /** Names of fields are written by clients, too. */
  #name(name: string): string {
    return treatments.has(name) ? name : this.shown(name)
  }
}

/** What is recorded of a value that is not shown. */
function counted(value: unknown): unknown {
  if (typeof value === 'string') {
    const characters = value.length
    return characters < leastForDigest ? { characters } : { characters, sha256: digest(value) }
  }
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return { items: value.length }
  return { type: typeof value }
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
