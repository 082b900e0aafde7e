import * as z from 'zod'
import {
  ModelCatalog,
  TranscriberCatalog,
  type VoiceCatalog,
  voiceProviders,
  voicesIn,
} from '../src/contract/provider.ts'
import type { RouteRequest } from '../src/contract/route.ts'
import { routes } from '../src/contract/routes.ts'
import { ApiError, failureText } from '../src/platform/failure.ts'
import { withTimeLimit } from '../src/platform/time-limit.ts'
import { isObject } from '../src/text/json.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import {
  fieldsOption,
  isSelection,
  listDefaults,
  project,
  selectionNote,
} from '../src/tool/lists/list-result.ts'
import { shortenArray } from '../src/tool/results/shortening.ts'
import type { Run, StructuredContent } from '../src/tool/tool.ts'
import {
  catalogOf,
  catalogOptions,
  catalogSchema,
  ranked,
  shortenCatalog,
  sortOption,
} from './providers/catalog-result.ts'

/** Sort orders of language models: cheapest, most intelligent or fastest first. */
export const modelSorts = {
  price: 'pricing.additional_cost_per_minute',
  intelligence: '-intelligence_rating',
  latency: 'latency_range.min_ms',
  name: 'name',
}

/** Sort orders of transcribers: most languages first. */
const transcriberSorts = { languages: '-supported_languages', name: 'name' }

export const listModels = defineTool({
  name: 'list_models',
  title: 'List language models',
  description:
    'Lists the language models (LLMs) an agent can use, by provider, with ratings and prices. model.provider takes the code of a provider, model.model the id of a model.',
  route: routes.providers.models,
  options: catalogOptions(modelSorts),
  result: {
    schema: catalogSchema(ModelCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, {
        ...options,
        shows: [
          'id',
          'name',
          'recommended',
          'intelligence_rating',
          'latency_rating',
          'latency_range',
          'pricing',
        ],
        sort: options.sort_by && modelSorts[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})

export const listTranscribers = defineTool({
  name: 'list_transcribers',
  title: 'List transcribers',
  description:
    'Lists the speech-to-text models an agent can use, by provider, with their languages. transcriber.provider takes the code of a provider, transcriber.model the id of a model.',
  route: routes.providers.transcribers,
  options: catalogOptions(transcriberSorts),
  result: {
    schema: catalogSchema(TranscriberCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, {
        ...options,
        shows: ['id', 'name', 'supported_languages.code'],
        sort: options.sort_by && transcriberSorts[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})

/**
 * Sort orders of voices. The shape of a voice is not published, so a voice may lack these fields.
 */
const voiceSorts = { name: 'name', language: 'language', gender: 'gender' }

const voiceOptions = {
  provider: z.string().min(1).optional().describe('Only this provider, by code.'),
  sort_by: sortOption(voiceSorts).describe('Order.'),
  ...fieldsOption,
}

type VoicesRun = Run<typeof routes.providers.voices, typeof voiceOptions>

/** Time limit for each of several providers, ms. A slow provider does not block the others. */
const providerTimeoutMs = 20_000

/** Lists the voices of one provider, or of all known providers [R], each read once. */
export const listVoices = defineTool({
  name: 'list_voices',
  title: 'List voices',
  description:
    'Lists the voices an agent can use, filtered by language, gender or words. Asks all providers (elevenlabs, cartesia, azure) or the given one. voice.voice_id takes the id.',
  route: routes.providers.voices,
  defaults: listDefaults,
  view: 'voices',
  options: voiceOptions,
  without: ['provider'],
  schema: z.looseObject({
    returned: z.int().describe('How many are here.'),
    note: z.string().optional().describe('What was left out, and how to get it.'),
    providers: z
      .array(z.looseObject({ provider: z.string(), failed: z.string().optional() }))
      .optional()
      .describe('The providers that were asked; failed: why one gave no voices.'),
    voices: z.array(z.unknown()).describe('The voices.'),
  }),
  run: async (run) => ({
    structured: await (run.options.provider === undefined
      ? voicesOfAll(run)
      : voicesOfOne(run, run.options.provider)),
  }),
  shortening: shortenArray('voices', ({ note }, kept) => ({
    returned: kept,
    note: [note, 'Shortened: narrow by provider, language, gender or search.']
      .filter(Boolean)
      .join(' '),
  })),
})

interface ProviderVoices {
  readonly provider: string
  readonly voices: readonly unknown[]
  /** Other fields of the provider's reply. */
  readonly rest: Readonly<Record<string, unknown>>
}

async function voicesOfOne(run: VoicesRun, provider: string): Promise<StructuredContent> {
  const { voices, rest } = await readVoices(run, provider, run.signal)
  return { ...rest, ...viewOf([{ provider, voices, rest }], run) }
}

async function voicesOfAll(run: VoicesRun): Promise<StructuredContent> {
  const results = await Promise.all(
    voiceProviders.map((provider) =>
      withTimeLimit(providerTimeoutMs, run.signal, (signal) =>
        readVoices(run, provider, signal),
      ).catch((error: unknown) => {
        if (!(error instanceof ApiError) || run.signal?.aborted) throw error
        return { provider, error }
      }),
    ),
  )
  const found = results.flatMap((one) => ('error' in one ? [] : [one]))
  const [first] = results
  if (found.length === 0 && first && 'error' in first) throw first.error
  const providers = results.map((one) =>
    'error' in one
      ? { provider: one.provider, failed: failureText(one.error.failure) }
      : { ...one.rest, provider: one.provider },
  )
  return { providers, ...viewOf(found, run) }
}

/** Reads the voices of one provider. Throws ApiError. */
async function readVoices(
  { request, session, options: { sort_by } }: VoicesRun,
  provider: string,
  signal: AbortSignal | undefined,
): Promise<ProviderVoices> {
  const { limit, ...filters } = request.query
  // Sorting needs all voices, so no limit is sent.
  const query = { ...filters, provider, ...(sort_by === undefined && { limit }) }
  const asked: RouteRequest = { ...request, query }
  const catalog: VoiceCatalog = await session.client.call(routes.providers.voices, asked, signal)
  const { voices = [], rest = {} } = voicesIn(catalog) ?? {}
  return { provider, voices: voices.map((voice) => withProvider(voice, provider)), rest }
}

/** Adds the provider to a voice that lacks it. The shape of a voice is not published. */
const withProvider = (voice: unknown, provider: string): unknown =>
  isObject(voice) && voice.provider === undefined ? { provider, ...voice } : voice

/** Chooses `limit` voices: the first ones when sorted, else a fair share of each provider. */
function viewOf(
  found: readonly ProviderVoices[],
  { request, options: { sort_by, fields = [] } }: VoicesRun,
): StructuredContent {
  const limit = Number(request.query.limit)
  const counts = found.map(({ voices }) => voices.length)
  const all = found.flatMap(({ voices }) => voices)
  const shares = fairShares(counts, limit)
  const chosen =
    sort_by === undefined
      ? found.flatMap(({ voices }, i) => voices.slice(0, shares[i]))
      : inOrder(all, voiceSorts[sort_by]).slice(0, limit)
  const isFull = all.length > chosen.length || counts.some((count) => count >= limit)
  const views = chosen.map((voice) => shownOf(voice, fields))
  const note = [
    isFull && 'There may be more: narrow by language or search, or raise limit.',
    views.some(({ isPart }) => isPart) && selectionNote,
  ].filter(Boolean)
  return {
    returned: views.length,
    ...(note.length > 0 && { note: note.join(' ') }),
    voices: views.map(({ shown }) => shown),
  }
}

/** Divides `limit` among the providers. Shares that a provider does not use go to the others. */
function fairShares(counts: readonly number[], limit: number): number[] {
  const shares = counts.map(() => 0)
  for (let left = limit; left > 0; ) {
    const open = counts.flatMap((count, i) => (count > (shares[i] ?? 0) ? [i] : []))
    if (open.length === 0) break
    for (const i of open.slice(0, left)) shares[i] = (shares[i] ?? 0) + 1
    left -= Math.min(open.length, left)
  }
  return shares
}

function inOrder(voices: readonly unknown[], sort: string): unknown[] {
  const others = voices.filter((voice) => !isObject(voice))
  return [...ranked(voices.filter(isObject), sort).map(({ model }) => model), ...others]
}

/**
 * Shows the simple fields of a voice and those in `fields`. Omits objects and URLs, which are
 * large.
 */
function shownOf(voice: unknown, fields: readonly string[]): { shown: unknown; isPart: boolean } {
  if (!isObject(voice)) return { shown: voice, isPart: false }
  const plain = Object.entries(voice).filter(
    ([name, value]) => typeof value !== 'object' && !name.endsWith('_url'),
  )
  const paths = [...plain.map(([name]) => name), ...fields]
  return { shown: project(voice, paths), isPart: isSelection([voice], paths) }
}
