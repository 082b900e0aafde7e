import { ApiError } from '../../api/failure.ts'
import { type VoiceCatalog, voiceProviders, voicesIn } from '../../contract/provider.ts'
import { routes } from '../../contract/routes.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import { accountIn } from '../../session/account.ts'
import { closestItems, itemLabel, type NamedItem } from '../../text/closest-match.ts'
import { type Fields, isObject } from './field-changes.ts'
import type { Asking } from './template-check.ts'

const knownVoiceProviders: readonly NamedItem[] = voiceProviders.map((id) => ({ id, names: [] }))

/** One provider of a catalog with what it offers. */
interface Offer extends NamedItem {
  readonly models: readonly (NamedItem & { readonly languages: readonly NamedItem[] })[]
}

/**
 * Looks up what an agent is to use in the platform's catalogs. What is near something that exists
 * is a slip, and refused with what was meant; what is like nothing there may be the customer's own
 * (a fine-tuned model, a cloned voice), so it is passed on with a warning. A catalog that cannot
 * be read keeps nobody from working. What is `stored` already is nobody's mistake now: it is judged
 * anew only where what it belongs to changed, as a voice does with its provider.
 */
export async function checkCatalogs(
  { model, transcriber, voice }: Fields,
  asking: Asking,
  stored: Fields = {},
): Promise<string[]> {
  const checks = [
    isObject(model) && checkModel('model', { given: model, stored: stored.model }, asking),
    isObject(transcriber) &&
      checkModel('transcriber', { given: transcriber, stored: stored.transcriber }, asking),
    isObject(voice) &&
      !isSame(['provider', 'voice_id'], voice, stored.voice) &&
      checkVoice(voice, asking),
  ]
  const found = await Promise.all(checks.map((check) => check || []))
  const misses = found.flat()
  const slips = misses.filter(({ meant }) => meant.length > 0)
  if (slips.length === 0) return misses.map(({ argument, message }) => `${argument}: ${message}`)
  throw badArguments(slips.map((slip) => ({ argument: slip.argument, message: slipMessage(slip) })))
}

function slipMessage({ given, meant }: Miss): string {
  const [first] = meant
  return first && isSameButCase(first.id, given)
    ? `there is no ${given}; it is written ${first.id}`
    : `there is no ${given}; did you mean ${meant.map(itemLabel).join(' or ')}?`
}

const isSameButCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

const isSame = (names: readonly string[], given: Fields, stored: unknown) =>
  isObject(stored) && names.every((name) => given[name] === stored[name])

/** A part of an agent as it is to be, and as it is. */
interface Part {
  readonly given: Fields
  readonly stored: unknown
}

/** Something that is not in its catalog. */
interface Miss {
  readonly argument: string
  readonly given: string
  /** What exists and is like it. */
  readonly meant: readonly NamedItem[]
  readonly message: string
}

/**
 * Finds a word among what there is; a miss tells what is there. Codes and ids are compared as they
 * are written: whether the platform minds the case is not published, and the catalog's own spelling
 * is right either way.
 */
function look(argument: string, given: unknown, known: readonly NamedItem[]): Miss | undefined {
  if (typeof given !== 'string' || given === '' || known.length === 0) return undefined
  if (known.some(({ id }) => id === given)) return undefined
  const spelt = known.filter(({ id }) => isSameButCase(id, given))
  const some = known.slice(0, 5).map(itemLabel).join(', ')
  const more = known.length > 5 ? ` and ${known.length - 5} more` : ''
  return {
    argument,
    given,
    meant: spelt.length > 0 ? spelt : closestItems(given, known),
    message: `${given} is not in the catalog, which has ${some}${more}`,
  }
}

async function checkModel(
  part: 'model' | 'transcriber',
  { given, stored }: Part,
  asking: Asking,
): Promise<Miss[]> {
  const isKept = isSame(['provider', 'model'], given, stored)
  const languages = languagesWanted(given, isKept ? stored : undefined)
  if (isKept && languages.length === 0) return []
  const check = (offers: readonly Offer[]) =>
    missesOf(part, given, { offers, languages }).filter(
      ({ argument }) => !isKept || argument === `${part}.language`,
    )
  const misses = check(await offersOf(part, asking, 'read'))
  // Models come and go: before anything is called missing the catalog is read anew.
  return misses.length === 0 ? misses : check(await offersOf(part, asking, 'refresh'))
}

/** The languages that an agent is to understand and did not before. */
function languagesWanted(given: Fields, stored: unknown): unknown[] {
  const all = ({ languages, language }: Fields) => [languages ?? [], language ?? []].flat()
  const before = isObject(stored) ? all(stored) : []
  return all(given).filter((language) => !before.includes(language))
}

function missesOf(
  part: string,
  given: Fields,
  { offers, languages }: { offers: readonly Offer[]; languages: readonly unknown[] },
): Miss[] {
  const provider = look(`${part}.provider`, given.provider, offers)
  const offer = found(given.provider, offers)
  const model = look(`${part}.model`, given.model, offer?.models ?? [])
  const known = found(given.model, offer?.models ?? [])?.languages ?? []
  // The case of a language code means nothing (RFC 5646 §2.1.1).
  const unheard = languages.filter((one) => !found(one, known))
  const language = unheard.flatMap((one) => look(`${part}.language`, one, known) ?? [])
  return [provider ?? [], model ?? [], language].flat()
}

/** The one of that name, in whatever case: what is written wrong is told, and what lies below it too. */
const found = <T extends NamedItem>(given: unknown, known: readonly T[]): T | undefined =>
  known.find(({ id }) => id === given) ??
  known.find(({ id }) => typeof given === 'string' && isSameButCase(id, given))

async function offersOf(
  part: 'model' | 'transcriber',
  { request, session }: Asking,
  how: 'read' | 'refresh',
): Promise<Offer[]> {
  const route = part === 'model' ? routes.providers.models : routes.providers.transcribers
  const account_id = accountIn(request)
  try {
    const asked = { params: { account_id }, query: {} }
    const catalog = await session.cache[how](route, asked, 'catalog')
    return catalog.map(({ provider, models }) => ({
      id: typeof provider === 'string' ? provider : provider.code,
      names: [typeof provider === 'string' ? null : provider.name],
      models: models.map((model) => ({
        id: model.id,
        names: [model.name],
        languages: languagesOf(model),
      })),
    }))
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}

function languagesOf(model: Fields): NamedItem[] {
  const { supported_languages: languages } = model
  if (!Array.isArray(languages)) return []
  return languages.filter(isObject).map(({ code, name }) => ({
    id: String(code),
    names: [typeof name === 'string' ? name : null],
  }))
}

async function checkVoice(given: Fields, asking: Asking): Promise<Miss[]> {
  const { provider, voice_id } = given
  if (typeof provider !== 'string') return []
  const check = (voices: readonly NamedItem[]) => {
    const miss = look('voice.voice_id', voice_id, voices)
    return miss ? [miss] : []
  }
  const known = await voicesOf(provider, asking, 'read')
  if (known === 'no such provider') {
    const miss = look('voice.provider', provider, knownVoiceProviders)
    return miss ? [miss] : []
  }
  const misses = check(known)
  if (misses.length === 0) return []
  const fresh = await voicesOf(provider, asking, 'refresh')
  return typeof fresh === 'string' ? [] : check(fresh)
}

async function voicesOf(
  provider: string,
  { request, session }: Asking,
  how: 'read' | 'refresh',
): Promise<readonly NamedItem[] | 'no such provider'> {
  const account_id = accountIn(request)
  try {
    const asked = { params: { account_id }, query: { provider } }
    return knownVoices(await session.cache[how](routes.providers.voices, asked, 'catalog'))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { failure } = error
    const isRefused = failure.kind === 'rejected' && [404, 422].includes(failure.status)
    return isRefused ? 'no such provider' : []
  }
}

function knownVoices(catalog: VoiceCatalog): NamedItem[] {
  const voices = voicesIn(catalog) ?? []
  return voices.filter(isObject).flatMap(({ id, voice_id, name }) => {
    const found = id ?? voice_id
    const names = [typeof name === 'string' ? name : null]
    return typeof found === 'string' ? [{ id: found, names }] : []
  })
}
