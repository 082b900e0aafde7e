import {
  type ModelCatalog,
  type TranscriberCatalog,
  type VoiceCatalog,
  voicesIn,
} from '../contract/provider.ts'
import { foldLanguageCode } from '../flows/checks/language-check.ts'
import { project } from '../views/fields.ts'

type Item = Readonly<Record<string, unknown>>

const codeOf = (provider: string | { code: string }) =>
  typeof provider === 'string' ? provider : provider.code

/** All language models; recommended ones first, then those with higher ratings. */
export function modelItems(catalog: ModelCatalog): Item[] {
  const score = (model: ModelCatalog[number]['models'][number]) =>
    (model.recommended ? 100 : 0) + (model.intelligence_rating ?? 0) + (model.latency_rating ?? 0)
  return catalog
    .flatMap(({ provider, models }) => models.map((model) => ({ provider: provider.code, model })))
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

/** All transcribers with their language codes; with `language`, only those that support it. */
export function transcriberItems(catalog: TranscriberCatalog, language?: string): Item[] {
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

/** Voices with the fields that help to choose one. Other fields are vendor data, and left out. */
export const voiceItems = (catalog: VoiceCatalog): Item[] =>
  (voicesIn(catalog) ?? [])
    .filter((voice): voice is Item => typeof voice === 'object' && voice !== null)
    .map((voice) => project(voice, ['id', 'voice_id', 'name', 'language', 'gender', 'description']))

/** True if a language of a catalog matches: by code, by the first part of its code, or by name. */
function isLanguage(
  { code, name }: { code: string; name?: string | null | undefined },
  wanted: string,
): boolean {
  const [has, wants] = [foldLanguageCode(code), foldLanguageCode(wanted)]
  if (has === wants || has.startsWith(`${wants}-`) || wants.startsWith(`${has}-`)) return true
  return wanted.length > 3 && (name ?? '').toLowerCase().includes(wanted.toLowerCase())
}
