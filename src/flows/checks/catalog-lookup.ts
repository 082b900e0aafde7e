import { ApiError } from '../../api/failure.ts'
import { type VoiceCatalog, voicesIn } from '../../contract/provider.ts'
import { routes } from '../../contract/routes.ts'
import { isObject } from '../../json/is-object.ts'
import type { NamedItem } from '../../text/closest-match.ts'
import type { Fields } from '../field-changes.ts'
import type { CachedAccountReader } from './account-reader.ts'

/** `refreshed`: read now, because models and voices come and go. */
export type CatalogAge = 'cached' | 'refreshed'

export interface CatalogProvider extends NamedItem {
  readonly models: readonly CatalogModel[]
}

export interface CatalogModel extends NamedItem {
  readonly languages: readonly NamedItem[]
}

/** Providers of language models or of transcribers. Throws ApiError. */
export async function readProviders(
  part: 'model' | 'transcriber',
  age: CatalogAge,
  reader: CachedAccountReader,
): Promise<CatalogProvider[]> {
  const route = part === 'model' ? routes.providers.models : routes.providers.transcribers
  const catalog = await reader[age](route, {}, 'catalog')
  return catalog.map(({ provider, models }) => ({
    id: typeof provider === 'string' ? provider : provider.code,
    names: [typeof provider === 'string' ? null : provider.name],
    models: models.map((model) => ({
      id: model.id,
      names: [model.name],
      languages: languagesOf(model),
    })),
  }))
}

function languagesOf({ supported_languages: languages }: Fields): NamedItem[] {
  if (!Array.isArray(languages)) return []
  return languages.filter(isObject).map(({ code, name }) => ({
    id: String(code),
    names: [typeof name === 'string' ? name : null],
  }))
}

/** Voices of a provider. Throws ApiError. */
export async function readVoices(
  provider: string,
  age: CatalogAge,
  reader: CachedAccountReader,
): Promise<readonly NamedItem[] | 'no such provider'> {
  try {
    const catalog = await reader[age](routes.providers.voices, { query: { provider } }, 'catalog')
    return voiceItemsOf(catalog)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { failure } = error
    if (failure.kind === 'rejected' && [404, 422].includes(failure.status))
      return 'no such provider'
    throw error
  }
}

function voiceItemsOf(catalog: VoiceCatalog): NamedItem[] {
  const voices = voicesIn(catalog) ?? []
  return voices.filter(isObject).flatMap(({ id, voice_id, name }) => {
    const known = id ?? voice_id
    const names = [typeof name === 'string' ? name : null]
    return typeof known === 'string' ? [{ id: known, names }] : []
  })
}
