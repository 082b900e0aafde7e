import { ModelCatalog, TranscriberCatalog } from '../src/contract/provider.ts'
import { routes } from '../src/contract/routes.ts'
import { listVoicesSteps } from '../src/flows/lists/list-voices.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'
import { catalogOf, catalogOptions, catalogSchema, shortenCatalog } from '../src/views/catalog.ts'
import {
  modelSortKeys,
  modelSorts,
  transcriberSortKeys,
  transcriberSorts,
} from '../src/views/catalog-ranking.ts'
import { listDefaults } from '../src/views/list.ts'

export const listModels = defineTool({
  name: 'list_models',
  title: 'List language models (LLM, AI, GPT): cheapest, quickest, smartest, cost per minute',
  description:
    'Lists the language models an agent can use, by provider, with ratings and prices. Take model.provider and model.model from here.',
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
        sort: options.sort_by && modelSortKeys[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})

export const listTranscribers = defineTool({
  name: 'list_transcribers',
  title: 'List transcribers: speech to text (STT), speech recognition, languages understood',
  description:
    'Lists the speech-to-text models an agent can use, by provider, with their languages. Take transcriber.provider and transcriber.model from here.',
  route: routes.providers.transcribers,
  options: catalogOptions(transcriberSorts),
  result: {
    schema: catalogSchema(TranscriberCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, {
        ...options,
        shows: ['id', 'name', 'supported_languages.code'],
        sort: options.sort_by && transcriberSortKeys[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})

export const listVoices = defineTool({
  name: 'list_voices',
  title:
    'List voices to choose from: male or female, language, accent, such as those of ElevenLabs or Azure',
  description:
    'Lists voices, live, filtered by language, gender or words: of all providers (elevenlabs, cartesia, azure) or of one. Take voice.provider and voice.voice_id from here.',
  route: routes.providers.voices,
  defaults: listDefaults,
  steps: listVoicesSteps,
  view: 'voices',
})
