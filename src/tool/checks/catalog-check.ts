import * as z from 'zod'
import type { Agent } from '../../contract/agent.ts'
import { type VoiceCatalog, voiceProviders, voicesIn } from '../../contract/provider.ts'
import { routes } from '../../contract/routes.ts'
import { ignoreApiError, isRejectedWith } from '../../platform/failure.ts'
import { isMisspeltId, isNarrower, itemLabel, type NamedItem } from '../../text/closest-match.ts'
import { isObject } from '../../text/json.ts'
import { joinedUpTo } from '../../text/labels.ts'
import type { AccountReader } from '../account-reader.ts'
import type { Fields } from '../field-changes.ts'
import { badArguments } from '../refused.ts'
import { type CheckResult, foldLanguageCode, ok, warning } from './readiness.ts'

const knownVoiceProviders: readonly NamedItem[] = voiceProviders.map((id) => ({ id, names: [] }))

/** The parts of an agent whose values come from a catalog. */
export const catalogParts = ['model', 'transcriber', 'voice'] as const
export type CatalogPart = (typeof catalogParts)[number]

type CatalogReader = Pick<AccountReader, 'cached' | 'refreshed'>

/** The catalog's id for a value that is a unique name or an id in another case. */
interface CatalogId {
  readonly part: CatalogPart
  readonly field: string
  readonly given: string
  readonly id: string
}

interface CatalogFindings {
  readonly ids: readonly CatalogId[]
  readonly warnings: readonly string[]
}

interface CatalogCheck {
  /**
   * The agent before the change. An unchanged value is checked again only if a value it depends on
   * changes.
   */
  readonly stored?: Fields
  /** If true, values are saved as given: names do not become ids, and no value is refused. */
  readonly allowsUnlisted?: boolean | undefined
}

/** Argument that saves a value although it looks misspelt. */
export const unlistedOption = {
  allow_unlisted: z.boolean().optional().describe('true: save ids that look misspelt.'),
}

/**
 * Checks values before they are saved. Catalogs go stale, and a value may be the customer's own (a
 * fine-tuned model, a cloned voice), so an unlisted value is saved with a warning. Only a value
 * that looks like a misspelt catalog entry is refused. If a catalog cannot be read, nothing is
 * refused. Throws Refused.
 */
export async function checkNewCatalogValues(
  wanted: Fields,
  reader: CatalogReader,
  { stored = {}, allowsUnlisted = false }: CatalogCheck = {},
): Promise<CatalogFindings> {
  const checks = catalogParts.map((part) =>
    findingsOf(part, { given: wanted[part], stored: stored[part] }, reader).catch(ignoreApiError),
  )
  const found = (await Promise.all(checks)).flatMap((one) => one ?? [])
  if (allowsUnlisted) return { ids: [], warnings: found.map(warningText) }
  const missing = found.filter((one) => 'meant' in one)
  const typos = missing.filter(({ meant }) => meant.length > 0)
  if (typos.length === 0)
    return { ids: found.filter((one) => 'id' in one), warnings: missing.map(warningText) }
  throw badArguments(
    typos.map((typo) => ({
      argument: typo.argument,
      message: `${typoText(typo)} To save it as it is, give allow_unlisted: true`,
    })),
  )
}

/** Replaces names in the fields with ids. */
export const withCatalogIds = (fields: Fields, ids: readonly CatalogId[]): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const own = ids.filter(({ part }) => part === name).map(({ field, id }) => [field, id])
      return [name, isObject(value) ? { ...value, ...Object.fromEntries(own) } : value]
    }),
  )

/**
 * Compares a stored agent's model, transcriber or voice with its catalog. An unlisted value is only
 * a warning, because it may be the customer's own. Throws ApiError if the catalog cannot be read.
 */
export async function checkCatalogPart(
  part: CatalogPart,
  agent: Agent,
  reader: CatalogReader,
): Promise<CheckResult> {
  const given = agent[part]
  if (!isObject(given)) return warning(part, 'not set', `set ${part} with update_agent`)
  const findings = await findingsOf(part, { given, stored: undefined }, reader)
  const value = part === 'voice' ? given.voice_id : given.model
  if (findings.length === 0) return ok(part, [given.provider, value].filter(Boolean).join(' '))
  const found = findings.map((one) =>
    'meant' in one && one.meant.length > 0 ? `${one.argument}: ${typoText(one)}` : warningText(one),
  )
  return warning(part, found.join('; '), 'correct it with update_agent, unless it is your own')
}

const warningText = (one: Finding): string =>
  'id' in one
    ? `${one.part}.${one.field}: there is no ${one.given}; it is written ${one.id}`
    : `${one.argument}: ${one.message}`

/** A value that is not in its catalog. */
interface MissingValue {
  readonly argument: string
  readonly given: string
  /** Catalog entries that the value may be a misspelling of; empty if it resembles none. */
  readonly meant: readonly NamedItem[]
  readonly message: string
}

const typoText = ({ given, meant }: MissingValue): string =>
  `there is no ${given}; did you mean ${meant.map(itemLabel).join(' or ')}?`

type Finding = MissingValue | CatalogId

async function findingsOf(
  part: CatalogPart,
  { given, stored }: { readonly given: unknown; readonly stored: unknown },
  reader: CatalogReader,
): Promise<Finding[]> {
  if (!isObject(given)) return []
  if (part !== 'voice') return modelFindings(part, { given, stored }, reader)
  return hasSame(['provider', 'voice_id'], given, stored) ? [] : voiceFindings(given, reader)
}

const hasSame = (names: readonly string[], given: Fields, stored: unknown) =>
  isObject(stored) && names.every((name) => given[name] === stored[name])

async function modelFindings(
  part: 'model' | 'transcriber',
  { given, stored }: { readonly given: Fields; readonly stored: unknown },
  reader: CatalogReader,
): Promise<Finding[]> {
  const isModelStored = hasSame(['provider', 'model'], given, stored)
  const languages = newLanguages(given, isModelStored ? stored : undefined)
  if (isModelStored && languages.length === 0) return []
  return byCatalog(async (age) => {
    const providers = await readProviders(part, age, reader)
    const models = entryFor(given.provider, providers)?.models ?? []
    const model = entryFor(given.model, models)
    const unsupported = missingLanguages(part, languages, languagesOf(model ? [model] : models))
    if (isModelStored) return unsupported
    return [
      ...finding(part, 'provider', given.provider, providers),
      ...finding(part, 'model', given.model, models),
      ...unsupported,
    ]
  })
}

/**
 * Compares values with the cached catalog. If a value is not listed, compares again with a fresh
 * one.
 */
async function byCatalog(compare: (age: CatalogAge) => Promise<Finding[]>): Promise<Finding[]> {
  const findings = await compare('cached')
  return findings.some((one) => 'meant' in one) ? compare('refreshed') : findings
}

/** The given languages of a transcriber that are not stored yet. */
function newLanguages(given: Fields, stored: unknown): NewLanguage[] {
  const all = ({ languages, language }: Fields): NewLanguage[] => [
    ...[languages ?? []].flat().map((code) => ({ field: 'languages' as const, code })),
    ...[language ?? []].flat().map((code) => ({ field: 'language' as const, code })),
  ]
  const before = isObject(stored) ? all(stored).map(({ code }) => code) : []
  return all(given).filter(({ code }) => !before.includes(code))
}

/** A language and the field it is given in, which depends on the provider. */
interface NewLanguage {
  readonly field: 'languages' | 'language'
  readonly code: unknown
}

/** Languages that the given models support, without repeats. */
const languagesOf = (models: readonly CatalogModel[]): readonly NamedItem[] => [
  ...new Map(
    models.flatMap(({ languages }) => languages).map((one) => [foldLanguageCode(one.id), one]),
  ).values(),
]

function missingLanguages(
  part: CatalogPart,
  languages: readonly NewLanguage[],
  supported: readonly NamedItem[],
): MissingValue[] {
  // The case of a language code has no meaning (RFC 5646 §2.1.1).
  const known = new Set(supported.map(({ id }) => foldLanguageCode(id)))
  return languages
    .filter(({ code }) => typeof code === 'string' && !known.has(foldLanguageCode(code)))
    .flatMap(({ field, code }) => missingEntry(`${part}.${field}`, code, supported))
    .map((one) => (isLanguage(one.given) ? { ...one, meant: [] } : one))
}

/** True for an existing language code. `en-AU` is not a misspelling of `en-US`. */
function isLanguage(code: string): boolean {
  try {
    const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
    return names.of(code) !== undefined
  } catch {
    return false
  }
}

/**
 * Compares a value with the catalog's entries. Empty if the value is listed; otherwise the listed
 * id that it stands for, or the finding that it is unlisted.
 */
function finding(
  part: CatalogPart,
  field: string,
  given: unknown,
  entries: readonly NamedItem[],
): Finding[] {
  const id = entryFor(given, entries)?.id
  if (id === undefined || typeof given !== 'string')
    return missingEntry(`${part}.${field}`, given, entries)
  return id === given ? [] : [{ part, field, given, id }]
}

/** The entry with this id; else the only entry with this name, or with this id in another case. */
function entryFor<T extends NamedItem>(given: unknown, entries: readonly T[]): T | undefined {
  if (typeof given !== 'string') return undefined
  const [one, ...others] = entriesNamed(given, entries)
  return entries.find(({ id }) => id === given) ?? (others.length === 0 ? one : undefined)
}

const entriesNamed = <T extends NamedItem>(given: string, entries: readonly T[]): T[] =>
  entries.filter(
    ({ id, names }) => names.includes(given) || id.toLowerCase() === given.toLowerCase(),
  )

function missingEntry(
  argument: string,
  given: unknown,
  entries: readonly NamedItem[],
): MissingValue[] {
  if (typeof given !== 'string' || given === '' || entries.length === 0) return []
  const named = entriesNamed(given, entries)
  const meant = named.length > 0 ? named : entries.filter((entry) => isMeant(given, entry))
  return [{ argument, given, meant: meant.slice(0, 3), message: notListed(given, entries) }]
}

const isMeant = (given: string, { id, names }: NamedItem) =>
  [id, ...names].some((one) => typeof one === 'string' && isMisspeltId(given, one))

function notListed(given: string, entries: readonly NamedItem[]): string {
  const narrower = entries.filter(({ id }) => isNarrower(id, given)).slice(0, 3)
  if (narrower.length > 0)
    return `${given} is not in the catalog; did you mean ${narrower.map(itemLabel).join(' or ')}?`
  return `${given} is not in the catalog, which has ${joinedUpTo(entries.map(itemLabel), 5)}`
}

async function voiceFindings(given: Fields, reader: CatalogReader): Promise<Finding[]> {
  if (typeof given.provider !== 'string') return []
  const ofProvider = finding('voice', 'provider', given.provider, knownVoiceProviders)
  const [known] = ofProvider
  const provider = known && 'id' in known ? known.id : given.provider
  return byCatalog(async (age) => {
    const voices = await readVoices(provider, age, reader)
    if (voices === 'no such provider') return ofProvider
    const providerId = ofProvider.filter((one) => 'id' in one)
    return [...providerId, ...finding('voice', 'voice_id', given.voice_id, voices)]
  })
}

/** `refreshed`: read now. Models and voices change. */
type CatalogAge = 'cached' | 'refreshed'

interface CatalogProvider extends NamedItem {
  readonly models: readonly CatalogModel[]
}

interface CatalogModel extends NamedItem {
  readonly languages: readonly NamedItem[]
}

/** Reads the providers of language models or of transcribers. Throws ApiError. */
async function readProviders(
  part: 'model' | 'transcriber',
  age: CatalogAge,
  reader: CatalogReader,
): Promise<CatalogProvider[]> {
  const route = part === 'model' ? routes.providers.models : routes.providers.transcribers
  const catalog = await reader[age](route, {}, 'catalog')
  return catalog.map(({ provider, models }) => ({
    id: typeof provider === 'string' ? provider : provider.code,
    names: [typeof provider === 'string' ? null : provider.name],
    models: models.map((model) => ({
      id: model.id,
      names: [model.name],
      languages: languagesOfModel(model),
    })),
  }))
}

function languagesOfModel({ supported_languages: languages }: Fields): NamedItem[] {
  if (!Array.isArray(languages)) return []
  return languages.filter(isObject).map(({ code, name }) => ({
    id: String(code),
    names: [typeof name === 'string' ? name : null],
  }))
}

/** Reads the voices of a provider. Throws ApiError. */
async function readVoices(
  provider: string,
  age: CatalogAge,
  reader: CatalogReader,
): Promise<readonly NamedItem[] | 'no such provider'> {
  try {
    const catalog = await reader[age](routes.providers.voices, { query: { provider } }, 'catalog')
    return voiceItemsOf(catalog)
  } catch (error) {
    if (isRejectedWith(error, 404, 422)) return 'no such provider'
    throw error
  }
}

function voiceItemsOf(catalog: VoiceCatalog): NamedItem[] {
  const { voices = [] } = voicesIn(catalog) ?? {}
  return voices.filter(isObject).flatMap(({ id, voice_id, name }) => {
    const known = id ?? voice_id
    const names = [typeof name === 'string' ? name : null]
    return typeof known === 'string' ? [{ id: known, names }] : []
  })
}
