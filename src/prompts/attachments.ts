import type { PhoneNumber } from '../contract/phone-number.ts'
import type { ModelCatalog, TranscriberCatalog } from '../contract/provider.ts'
import { routes } from '../contract/routes.ts'
import type { SipTrunk } from '../contract/sip-trunk.ts'
import type { Attachment, PromptReader, ReadResult } from '../mcp/prompt-definition.ts'
import { isObject } from '../text/json.ts'
import { estimateTokens, firstFitting } from '../text/token-estimate.ts'
import {
  canDialOut,
  findOwnNumber,
  foldLanguageCode,
  type OwnNumber,
  readTrunkOf,
  type TrunkOfNumber,
} from '../tool/checks/readiness.ts'
import { type DialOut, readDialOut } from '../tool/checks/suggested-fixes.ts'
import type { Fields } from '../tool/field-changes.ts'
import { project } from '../tool/lists/list-result.ts'
import { compactJson } from '../tool/results/shortening.ts'

/** Attaches one object as JSON. `what`: its description. `budget`: maximum estimated tokens. */
export const attached = (what: string, uri: string, value: Fields, budget: number): Attachment => ({
  what,
  uri,
  mimeType: 'application/json',
  text: compactJson(fitted(value, budget)),
})

interface ListLimits {
  /** Maximum estimated tokens of the attachment. */
  readonly budget: number
  /** The tool that shows all items. */
  readonly tool: string
  /** True if there are more items than were read. */
  readonly isPart?: boolean
}

/** Maximum tokens of one item, so that a long name or note leaves room for the other items. */
const itemBudget = 300

/** Attaches a list as JSON, with as many items as fit. */
export function attachedList(
  what: string,
  uri: string,
  items: readonly Fields[],
  { budget, tool, isPart = false }: ListLimits,
): Attachment {
  const short = items.map((item) => fitted(item, itemBudget))
  const shown = firstFitting(short, budget, compactJson)
  const isAll = shown.length === items.length && !isPart
  const counts = isAll
    ? { total: items.length }
    : { shown: shown.length, note: `Not all of them: ${tool} shows the rest.` }
  return {
    what,
    uri,
    mimeType: 'application/json',
    // `compactJson` omits an empty list, but here an empty list is an answer. So the list is added
    // by hand.
    text: `${compactJson(counts).slice(0, -1)},"items":${compactJson(shown)}}`,
  }
}

/**
 * Attaches a value that was read, or one line with the reason why it could not be read, and what to
 * use instead.
 */
export const attachedFrom = <T>(
  read: ReadResult<T>,
  what: string,
  instead: string,
  attach: (value: T) => Attachment,
): Attachment =>
  read.ok
    ? attach(read.value)
    : { what, missing: `could not be read (${read.problem}); ${instead}` }

/** Estimated tokens of a value. Counting stops above `max`. */
const tokensOf = (value: unknown, max: number) => estimateTokens(compactJson(value), max) + 1

/**
 * Maximum lengths of texts, characters. They are tried in this order before whole fields are
 * omitted.
 */
const textLengths = [Number.POSITIVE_INFINITY, 2000, 500, 120]

/** Shortens the longest texts of a value. If it is still too long, omits the largest fields. */
function fitted(value: Fields, budget: number): Fields {
  for (const longest of textLengths) {
    const short = withShortFields(value, longest)
    if (tokensOf(short, budget) <= budget) return short
  }
  const sized = Object.entries(value)
    .map(([name, field]) => ({ name, field: withShortTexts(field, 120) }))
    .map((entry) => ({ ...entry, tokens: tokensOf({ [entry.name]: entry.field }, budget) }))
    .sort((a, b) => a.tokens - b.tokens)
  let left = budget
  const kept = new Set<string>()
  for (const { name, tokens } of sized) {
    left -= tokens
    if (left >= 0) kept.add(name)
  }
  const fields = Object.entries(value).filter(([name]) => kept.has(name))
  return {
    ...withShortFields(Object.fromEntries(fields), 120),
    note: `${sized.length - kept.size} long fields left out.`,
  }
}

const withShortFields = (fields: Fields, longest: number): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, withShortTexts(field, longest)]),
  )

function withShortTexts(value: unknown, longest: number): unknown {
  if (typeof value === 'string') {
    return value.length > longest ? `${value.slice(0, longest)}… (cut)` : value
  }
  if (Array.isArray(value)) return value.map((item) => withShortTexts(item, longest))
  return isObject(value) ? withShortFields(value, longest) : value
}

/** One of the account's phone numbers and its trunk, as far as they could be read. */
export interface NumberAndTrunk {
  readonly found: ReadResult<OwnNumber>
  /** `undefined`: the account has no such number. */
  readonly trunk: ReadResult<TrunkOfNumber> | undefined
  /**
   * Numbers and trunks that can dial out instead; `undefined`: the number itself can dial out, or
   * they could not be read.
   */
  readonly dialOut: DialOut | undefined
}

export async function readNumberAndTrunk(
  e164: string,
  reader: PromptReader,
): Promise<NumberAndTrunk> {
  const found = await reader.attempt(findOwnNumber(e164, reader))
  const number = found.ok ? found.value.number : undefined
  const trunk = number && (await reader.attempt(readTrunkOf(number, reader)))
  const isAble = trunk?.ok && canDialOut(trunk.value)
  const dialOut =
    found.ok && !isAble ? await reader.attempt(readDialOut(found.value.numbers, reader)) : undefined
  return { found, trunk, dialOut: dialOut?.ok ? dialOut.value : undefined }
}

export function numberAttachments(
  e164: string,
  { found, trunk }: NumberAndTrunk,
): readonly Attachment[] {
  const what = `Number ${e164}`
  const missing = (reason: string) => [{ what, missing: reason }]
  if (!found.ok) return missing(`could not be read (${found.problem}); use list_phone_numbers`)
  const { number, numbers, isComplete } = found.value
  if (number) return [attachedNumber(number), ...(trunk ? [attachedTrunkOfNumber(trunk)] : [])]
  return missing(
    isComplete
      ? 'is not a number of this account'
      : `is not among the first ${numbers.length} numbers; use list_phone_numbers`,
  )
}

const attachedNumber = (number: PhoneNumber) =>
  attached(
    'Own number',
    `voice-agents://phone-numbers/${encodeURIComponent(number.id)}`,
    number,
    400,
  )

const attachedTrunkOfNumber = (read: ReadResult<TrunkOfNumber>): Attachment =>
  attachedFrom(read, 'Its trunk', 'use get_sip_trunk', (trunk) =>
    typeof trunk === 'string'
      ? { what: 'Its trunk', missing: trunk }
      : attachedTrunk('Its trunk', trunk),
  )

/** Attaches a trunk without its phone numbers, because there may be many. */
export function attachedTrunk(what: string, { phone_numbers, ...trunk }: SipTrunk): Attachment {
  return attached(
    what,
    `voice-agents://sip-trunks/${encodeURIComponent(trunk.id)}`,
    { ...trunk, numbers_on_it: phone_numbers?.length ?? 0 },
    400,
  )
}

/** Counts items by a property. Items without it count as `unknown`. */
export function countBy<T>(items: readonly T[], by: (item: T) => string | null | undefined) {
  const counts: Record<string, number> = {}
  for (const item of items) {
    const name = by(item) ?? 'unknown'
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

const codeOf = (provider: string | { code: string }) =>
  typeof provider === 'string' ? provider : provider.code

/** All language models: recommended ones first, then by rating. */
function modelItems(catalog: ModelCatalog): Fields[] {
  const score = (model: ModelCatalog[number]['models'][number]) =>
    (model.recommended ? 100 : 0) + (model.intelligence_rating ?? 0) + (model.latency_rating ?? 0)
  return catalog
    .flatMap(({ provider, models }) =>
      models.map((model) => ({ provider: codeOf(provider), model })),
    )
    .sort((a, b) => score(b.model) - score(a.model))
    .map(({ provider, model }) => ({
      provider,
      ...project(model, [
        'id',
        'recommended',
        'intelligence_rating',
        'latency_rating',
        'pricing.additional_cost_per_minute',
        'settings.temperature',
        'settings.max_tokens',
      ]),
    }))
}

/**
 * All transcribers with their language codes. With `language`, only transcribers that support it.
 */
function transcriberItems(catalog: TranscriberCatalog, language?: string): Fields[] {
  return catalog.flatMap(({ provider, models }) =>
    models.flatMap(({ id, supported_languages }) => {
      const spoken = (supported_languages ?? []).filter(
        (one) => language === undefined || isLanguage(one, language),
      )
      if (language !== undefined && spoken.length === 0) return []
      return [{ provider: codeOf(provider), id, languages: spoken.map(({ code }) => code) }]
    }),
  )
}

/**
 * Attaches the platform's language models and transcribers, each within its own budget of tokens.
 */
export async function catalogAttachments(
  reader: PromptReader,
  budgets: { readonly models: number; readonly transcribers: number },
  what: string,
  language?: string,
) {
  const [models, transcribers] = await Promise.all([
    reader.attempt(reader.cached(routes.providers.models, {}, 'catalog')),
    reader.attempt(reader.cached(routes.providers.transcribers, {}, 'catalog')),
  ])
  const heard = transcribers.ok ? transcriberItems(transcribers.value, language) : []
  return {
    heard,
    attachments: [
      attachedFrom(models, 'Language models', 'use list_models', (catalog) =>
        attachedList('Language models', 'voice-agents://catalog/models', modelItems(catalog), {
          budget: budgets.models,
          tool: 'list_models',
        }),
      ),
      attachedFrom(transcribers, 'Transcribers', 'use list_transcribers', () =>
        attachedList(what, 'voice-agents://catalog/transcribers', heard, {
          budget: budgets.transcribers,
          tool: 'list_transcribers',
        }),
      ),
    ],
  }
}

/** True if a language in a catalog matches: by code, by the first part of its code, or by name. */
function isLanguage(
  { code, name }: { code: string; name?: string | null | undefined },
  wanted: string,
): boolean {
  const [has, wants] = [foldLanguageCode(code), foldLanguageCode(wanted)]
  if (has === wants || has.startsWith(`${wants}-`) || wants.startsWith(`${has}-`)) return true
  return wanted.length > 3 && (name ?? '').toLowerCase().includes(wanted.toLowerCase())
}
