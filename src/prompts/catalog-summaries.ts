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

/** Language models side by side, the recommended ones first, then the cleverer and quicker. */
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

/** Transcribers side by side with the codes of the languages asked for, or all of theirs. */
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

/** Voices with what one chooses by; their shape is a vendor's, so nothing else is taken over. */
export const voiceItems = (catalog: VoiceCatalog): Item[] =>
  (voicesIn(catalog) ?? [])
    .filter((voice): voice is Item => typeof voice === 'object' && voice !== null)
    .map((voice) => project(voice, ['id', 'voice_id', 'name', 'language', 'gender', 'description']))

/** Whether a language of a catalog is the one meant: by code, whole or its first part, or by name. */
function isLanguage(
  { code, name }: { code: string; name?: string | null | undefined },
  wanted: string,
): boolean {
  const [has, wants] = [foldLanguageCode(code), foldLanguageCode(wanted)]
  if (has === wants || has.startsWith(`${wants}-`) || wants.startsWith(`${has}-`)) return true
  return wanted.length > 3 && (name ?? '').toLowerCase().includes(wanted.toLowerCase())
}
