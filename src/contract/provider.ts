import * as z from 'zod'
import { isObject } from '../text/json.ts'
import { accountParams } from './field.ts'
import { route } from './route.ts'

/** Genders by which a list of voices can be filtered [R]. */
const voiceGenders = ['male', 'female', 'neutral'] as const

const range = z.looseObject({}).nullish()

/*
 * Catalogs. Every field except ids and names may be null or absent [R], and models come and go
 * without a version change [B]. So the schemas require little more than lists.
 */
const Provider = z.looseObject({
  code: z.string().describe('Code to use as provider.'),
  name: z.string().nullish().describe('Display name.'),
  eu_hosted: z.boolean().nullish().describe('Runs in the EU.'),
})

const CatalogModel = z.looseObject({
  id: z.string().describe('Id to use as model.'),
  name: z.string().nullish().describe('Display name.'),
  description: z.string().nullish().describe('Purpose.'),
  recommended: z.boolean().nullish().describe('Recommended by the platform.'),
  intelligence_rating: z.number().nullish().describe('1 to 5.'),
  latency_rating: z.number().nullish().describe('1 to 5.'),
  latency_range: range.describe('min_ms, max_ms.'),
  pricing: range.describe('tier, additional_cost_per_minute.'),
  settings: range.describe('temperature and max_tokens: min, max, default.'),
})

const CatalogTranscriber = z.looseObject({
  id: z.string().describe('Id to use as model.'),
  name: z.string().nullish().describe('Display name.'),
  description: z.string().nullish().describe('Purpose.'),
  supported_languages: z
    .array(
      z.looseObject({
        code: z.string().describe('Language code.'),
        name: z.string().nullish().describe('Display name.'),
      }),
    )
    .nullish()
    .describe('Supported languages: code, name.'),
})

/** A catalog of models by provider [R]. A provider may be a code or an object. */
const catalogOf = <T extends z.ZodType>(model: T) =>
  z.array(
    z.looseObject({
      provider: z.union([z.string(), Provider]).describe('Provider, as code or object.'),
      models: z.array(model).default([]).describe('Models.'),
    }),
  )

/** Catalog of language models. */
export const ModelCatalog = catalogOf(CatalogModel)
export type ModelCatalog = z.output<typeof ModelCatalog>

/** Catalog of transcribers. */
export const TranscriberCatalog = catalogOf(CatalogTranscriber)
export type TranscriberCatalog = z.output<typeof TranscriberCatalog>

/**
 * Known voice providers [R]. No operation lists the providers, and voices are read per provider.
 */
export const voiceProviders = ['elevenlabs', 'cartesia', 'azure'] as const

/**
 * A voice as the sandbox returns it [S]. The platform returns the vendor's live data, in any shape.
 */
export const Voice = z.looseObject({
  id: z.string().nullish().describe('Id to use as voice_id.'),
  name: z.string().nullish().describe('Display name.'),
  provider: z.string().nullish().describe('Provider code.'),
  language: z.string().nullish().describe('Language code.'),
  gender: z.string().nullish().describe('male, female or neutral.'),
  description: z.string().nullish().describe('Sound of the voice.'),
  preview_url: z.string().nullish().describe('Audio sample.'),
})
export type Voice = z.output<typeof Voice>

/**
 * Voices of one provider. The shape is not published [B], so the schema accepts a list, or an
 * object with the list under any name, and keeps every field.
 */
export const VoiceCatalog = z
  .union([z.looseObject({}), z.array(z.unknown())])
  .refine((catalog) => voicesIn(catalog) !== undefined, { error: 'Expected an array of voices' })
export type VoiceCatalog = z.output<typeof VoiceCatalog>

/** The voices of a reply, and its other fields. */
interface FoundVoices {
  readonly voices: readonly unknown[]
  readonly rest: Readonly<Record<string, unknown>>
}

/**
 * Finds the list of voices in a reply: under a known name, else the first list of objects. An empty
 * list, or null under a known name, counts only if there is no other list; `undefined`: there is no
 * list.
 */
export function voicesIn(catalog: unknown): FoundVoices | undefined {
  if (Array.isArray(catalog)) return { voices: catalog, rest: {} }
  if (!isObject(catalog)) return undefined
  const lists = Object.entries(catalog).flatMap(([name, value]) => {
    const isKnown = name === 'voices' || name === 'items'
    const list: unknown = value === null && isKnown ? [] : value
    if (!Array.isArray(list)) return []
    if (list.length === 0) return [{ name, list, order: isKnown ? 3 : 4 }]
    const order = isKnown ? (name === 'voices' ? 0 : 1) : 2
    return isKnown || list.some(isObject) ? [{ name, list, order }] : []
  })
  const [found] = lists.toSorted((one, other) => one.order - other.order)
  if (!found) return undefined
  const { [found.name]: _, ...rest } = catalog
  return { voices: found.list, rest }
}

const voiceQuery = {
  provider: z.string().min(1).describe('Provider code, such as elevenlabs.'),
  language: z.string().optional().describe('Language code, such as en-us.'),
  gender: z.enum(voiceGenders).optional().describe('Gender of the voice.'),
  search: z.string().optional().describe('Words to look for in name and description.'),
  limit: z.int().min(1).optional().describe('Maximum voices.'),
  refresh: z.boolean().optional().describe("true bypasses the platform's cache."),
}

export const providerRoutes = {
  models: route({
    id: 'providers.models',
    method: 'GET',
    path: '/v1/accounts/{account_id}/providers/models',
    summary: 'Catalog of language models.',
    params: accountParams,
    reply: ModelCatalog,
    effect: 'reads',
  }),
  transcribers: route({
    id: 'providers.transcribers',
    method: 'GET',
    path: '/v1/accounts/{account_id}/providers/transcribers',
    summary: 'Catalog of transcribers.',
    params: accountParams,
    reply: TranscriberCatalog,
    effect: 'reads',
  }),
  voices: route({
    id: 'providers.voices',
    method: 'GET',
    path: '/v1/accounts/{account_id}/providers/voices',
    summary: 'Voices of one provider, live.',
    params: accountParams,
    query: voiceQuery,
    reply: VoiceCatalog,
    effect: 'reads',
    openWorld: true,
  }),
}
