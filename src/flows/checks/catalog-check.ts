import { ignoreApiError } from '../../api/failure.ts'
import type { Agent } from '../../contract/agent.ts'
import { voiceProviders } from '../../contract/provider.ts'
import { isObject } from '../../json/is-object.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import { closestItems, itemLabel, type NamedItem } from '../../text/closest-match.ts'
import type { Fields } from '../field-changes.ts'
import type { CachedAccountReader } from './account-reader.ts'
import { type CatalogProvider, readProviders, readVoices } from './catalog-lookup.ts'
import { type CheckResult, ok, warning } from './check-result.ts'

const knownVoiceProviders: readonly NamedItem[] = voiceProviders.map((id) => ({ id, names: [] }))

/** The parts of an agent whose values come from a catalog. */
export type CatalogPart = 'model' | 'transcriber' | 'voice'
export const catalogParts = [
  'model',
  'transcriber',
  'voice',
] as const satisfies readonly CatalogPart[]

/**
 * Checks values before they are saved. A value that is close to an entry of its catalog is a typo,
 * and refused with that entry. Any other unknown value may be the customer's own (a fine-tuned model,
 * a cloned voice), so it is saved with a warning; a catalog that cannot be read refuses nothing. Values
 * that are `stored` already are checked only if what they belong to changes, as a voice with its
 * provider. Returns the warnings; throws Refused.
 */
export async function checkNewCatalogValues(
  wanted: Fields,
  reader: CachedAccountReader,
  stored: Fields = {},
): Promise<string[]> {
  const checks = catalogParts.map((part) =>
    missingIn(part, { given: wanted[part], stored: stored[part] }, reader).catch(ignoreApiError),
  )
  const missing = (await Promise.all(checks)).flatMap((found) => found ?? [])
  const typos = missing.filter(({ meant }) => meant.length > 0)
  if (typos.length === 0) return missing.map(({ argument, message }) => `${argument}: ${message}`)
  throw badArguments(typos.map((typo) => ({ argument: typo.argument, message: typoText(typo) })))
}

/**
 * Checks a part of an agent as it is stored. A missing value is only a warning, because it may be the
 * customer's own. Throws ApiError if the catalog cannot be read.
 */
export async function checkCatalogPart(
  part: CatalogPart,
  agent: Agent,
  reader: CachedAccountReader,
): Promise<CheckResult> {
  const given = agent[part]
  if (!isObject(given)) return warning(part, 'not set', `set ${part} with update_agent`)
  const missing = await missingIn(part, { given, stored: undefined }, reader)
  const value = part === 'voice' ? given.voice_id : given.model
  if (missing.length === 0) return ok(part, [given.provider, value].filter(Boolean).join(' '))
  const found = missing.map(
    (one) => `${one.argument}: ${one.meant.length > 0 ? typoText(one) : one.message}`,
  )
  return warning(part, found.join('; '), 'correct it with update_agent, unless it is your own')
}

/** A value that is not in its catalog. */
interface MissingValue {
  readonly argument: string
  readonly given: string
  /** Close entries of the catalog. */
  readonly meant: readonly NamedItem[]
  readonly message: string
}

function typoText({ given, meant }: MissingValue): string {
  const [first] = meant
  return first && isSameButCase(first.id, given)
    ? `there is no ${given}; it is written ${first.id}`
    : `there is no ${given}; did you mean ${meant.map(itemLabel).join(' or ')}?`
}

/** A part of an agent, as it shall be and as it is stored. */
interface PartValues {
  readonly given: unknown
  readonly stored: unknown
}

async function missingIn(
  part: CatalogPart,
  { given, stored }: PartValues,
  reader: CachedAccountReader,
): Promise<MissingValue[]> {
  if (!isObject(given)) return []
  if (part !== 'voice') return missingModel(part, { given, stored }, reader)
  return hasSame(['provider', 'voice_id'], given, stored) ? [] : missingVoice(given, reader)
}

const hasSame = (names: readonly string[], given: Fields, stored: unknown) =>
  isObject(stored) && names.every((name) => given[name] === stored[name])

async function missingModel(
  part: 'model' | 'transcriber',
  { given, stored }: { readonly given: Fields; readonly stored: unknown },
  reader: CachedAccountReader,
): Promise<MissingValue[]> {
  const isModelStored = hasSame(['provider', 'model'], given, stored)
  const languages = newLanguages(given, isModelStored ? stored : undefined)
  if (isModelStored && languages.length === 0) return []
  const compare = (providers: readonly CatalogProvider[]) =>
    missingFrom(providers, { part, given, languages }).filter(
      ({ argument }) => !isModelStored || argument.startsWith(`${part}.language`),
    )
  const missing = compare(await readProviders(part, 'cached', reader))
  return missing.length === 0 ? [] : compare(await readProviders(part, 'refreshed', reader))
}

/** The languages of a transcriber that are not stored yet. */
function newLanguages(given: Fields, stored: unknown): NewLanguage[] {
  const all = ({ languages, language }: Fields): NewLanguage[] => [
    ...[languages ?? []].flat().map((code) => ({ field: 'languages' as const, code })),
    ...[language ?? []].flat().map((code) => ({ field: 'language' as const, code })),
  ]
  const before = isObject(stored) ? all(stored).map(({ code }) => code) : []
  return all(given).filter(({ code }) => !before.includes(code))
}

/** A language, and the field that it is given in: providers take one or the other. */
interface NewLanguage {
  readonly field: 'languages' | 'language'
  readonly code: unknown
}

interface ModelValues {
  readonly part: string
  readonly given: Fields
  readonly languages: readonly NewLanguage[]
}

function missingFrom(
  providers: readonly CatalogProvider[],
  { part, given, languages }: ModelValues,
): MissingValue[] {
  const models = entryFor(given.provider, providers)?.models ?? []
  const supported = entryFor(given.model, models)?.languages ?? []
  // The case of a language code has no meaning (RFC 5646 §2.1.1).
  const unsupported = languages.filter(({ code }) => !entryFor(code, supported))
  return [
    ...missingEntry(`${part}.provider`, given.provider, providers),
    ...missingEntry(`${part}.model`, given.model, models),
    ...unsupported.flatMap(({ field, code }) => missingEntry(`${part}.${field}`, code, supported)),
  ]
}

/** The entry with that id, else the one that differs in case only: what belongs to it is checked too. */
const entryFor = <T extends NamedItem>(given: unknown, entries: readonly T[]): T | undefined =>
  entries.find(({ id }) => id === given) ??
  entries.find(({ id }) => typeof given === 'string' && isSameButCase(id, given))

/**
 * The value, if it is not among the entries. Ids are compared with their case: whether the platform
 * ignores case is not published, and the spelling of the catalog is right in both cases.
 */
function missingEntry(
  argument: string,
  given: unknown,
  entries: readonly NamedItem[],
): MissingValue[] {
  if (typeof given !== 'string' || given === '' || entries.length === 0) return []
  if (entries.some(({ id }) => id === given)) return []
  const sameButCase = entries.filter(({ id }) => isSameButCase(id, given))
  const some = entries.slice(0, 5).map(itemLabel).join(', ')
  const more = entries.length > 5 ? ` and ${entries.length - 5} more` : ''
  return [
    {
      argument,
      given,
      meant: sameButCase.length > 0 ? sameButCase : closestItems(given, entries),
      message: `${given} is not in the catalog, which has ${some}${more}`,
    },
  ]
}

const isSameButCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

async function missingVoice(given: Fields, reader: CachedAccountReader): Promise<MissingValue[]> {
  const { provider, voice_id } = given
  if (typeof provider !== 'string') return []
  const voices = await readVoices(provider, 'cached', reader)
  if (voices === 'no such provider')
    return missingEntry('voice.provider', provider, knownVoiceProviders)
  if (missingEntry('voice.voice_id', voice_id, voices).length === 0) return []
  const fresh = await readVoices(provider, 'refreshed', reader)
  return fresh === 'no such provider' ? [] : missingEntry('voice.voice_id', voice_id, fresh)
}
